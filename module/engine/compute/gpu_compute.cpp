#include "module/engine/compute/gpu_compute.hpp"

#include <algorithm>

namespace cgpu::module {
namespace {

/// Launches that pass a free gate without asking, over which the cost of asking is spread.
constexpr std::uint32_t kFreeRun = 256;
/// How often the page is renewed at most while work is waited for.
constexpr std::int64_t kRenew = 1'000'000;

}  // namespace

void GpuCompute::bind(const wire::Orders* orders, wire::Reports* reports) {
    const Guard guard(lock_);
    gate_.bind(orders, gpu_);
    orders_ = orders;
    reports_ = reports;
    if (reports_ != nullptr) waits_.report(reports_->waits[gpu_]);
    report();
}

TimeGrant GpuCompute::request_time(const TimeRequest& request) {
    const Guard guard(lock_);
    if (request.returned_launches > 0 || request.returned_ns > 0)
        meter_.return_time(request.returned_batch, request.returned_launches, request.returned_ns);
    if (request.passed > 0) meter_.passed(request.launch.function, request.passed);
    return decide(request.launch);
}

void GpuCompute::return_time(BatchId id, std::uint32_t launches, std::int64_t ns) {
    const Guard guard(lock_);
    meter_.return_time(id, launches, ns);
    report();
}

TimeGrant GpuCompute::decide(const Launch& launch) {
    at(launch.now_ns);
    note_return(launch.now_ns);
    TimeGrant grant{};
    Decision& decision = grant.decision;
    const Look look = gate_.look(meter_.spent_ns(), launch.now_ns);
    decision.seq = look.seq;
    decision.ring = look.ring ? 1 : 0;
    decision.word = look.word;
    decision.value = look.seq;
    switch (look.passage) {
        case Passage::free:
            decision.act = Act::pass;
            decision.more = kFreeRun;
            meter_.count_unmetered(1 + kFreeRun);
            break;
        case Passage::metered:
            pass(launch, look, grant);
            break;
        case Passage::shut:
            decision.act = Act::wait;
            decision.until_ns = look.until_ns;
            break;
    }
    const bool waits = decision.act == Act::wait;
    if (waits && launch.waited == 0) ++waiting_;
    if (!waits && launch.waited != 0) {
        if (waiting_ > 0) --waiting_;
        waits_.ended(waited_ns(launch.waited));
        if (reports_ != nullptr) waits_.report(reports_->waits[gpu_]);
    }
    report();
    return grant;
}

void GpuCompute::pass(const Launch& launch, const Look& look, TimeGrant& grant) {
    Decision& decision = grant.decision;
    const auto overlap = static_cast<wire::Overlap>(
        orders_ == nullptr ? 0 : orders_->gates[gpu_].overlap.load(std::memory_order_relaxed));
    const Admission admission = meter_.admit(launch, {look.room_ns, look.window_ns, overlap});
    if (admission.wait) {
        decision.act = Act::wait;
        decision.reap_first = 1;
        decision.until_ns = admission.until_ns;
        return;
    }
    decision.act = admission.batch == 0 ? Act::pass : Act::launch;
    decision.batch = admission.batch;
    decision.open = admission.opens ? admission.batch : 0;
    decision.close = admission.closes ? admission.batch : 0;
    decision.more = admission.more;
    grant.time_ns = admission.time_ns;
    grant.cost_ns = admission.cost_ns;
    grant.ask_after = admission.ask_after;
    grant.any_function = admission.any_function ? 1 : 0;
    grant.close_first = admission.close_first;
}

bool GpuCompute::next_open(std::uint64_t context, std::uint64_t stream, std::int64_t older_than_ns,
                           OpenBatch& out) {
    const Guard guard(lock_);
    return meter_.next_open(context, stream, older_than_ns, out);
}

void GpuCompute::closed(BatchId id, std::int64_t now_ns) {
    const Guard guard(lock_);
    at(now_ns);
    meter_.closed(id, now_ns);
}

BatchId GpuCompute::oldest(std::uint64_t context) {
    const Guard guard(lock_);
    return meter_.oldest(context);
}

BatchId GpuCompute::following(BatchId id) {
    const Guard guard(lock_);
    return meter_.following(id);
}

bool GpuCompute::reaped(BatchId id, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns) {
    const Guard guard(lock_);
    at(now_ns);
    const bool had_work = !meter_.drained();
    meter_.reaped(id, start_ns, end_ns, now_ns);
    report();
    return had_work && meter_.drained() && gate_.drain_awaited();
}

void GpuCompute::lost(BatchId id) {
    const Guard guard(lock_);
    meter_.lost(id, now_ns_);
    report();
}

void GpuCompute::first_launched(BatchId id, std::int64_t ns, std::int64_t now_ns) {
    const Guard guard(lock_);
    meter_.first_launched(id, ns, now_ns);
}

bool GpuCompute::may_estimate(BatchId id) {
    const Guard guard(lock_);
    return meter_.may_estimate(id);
}

bool GpuCompute::estimated(BatchId id, std::int64_t end_ns, bool by_event, std::int64_t now_ns) {
    const Guard guard(lock_);
    at(now_ns);
    const bool had_work = !meter_.drained();
    meter_.estimated(id, end_ns, by_event, now_ns);
    report();
    return had_work && meter_.drained() && gate_.drain_awaited();
}

std::int64_t GpuCompute::poll_at(std::int64_t now_ns) {
    const Guard guard(lock_);
    if (!meter_.drained() && now_ns - now_ns_ >= kRenew) {
        at(now_ns);
        report();
    }
    return meter_.poll_at(now_ns);
}

void GpuCompute::sync_begin(std::int64_t now_ns) {
    const Guard guard(lock_);
    at(now_ns);
    meter_.wait_begins();
    ++syncing_;
    report();
}

void GpuCompute::sync_end(std::int64_t now_ns) {
    const Guard guard(lock_);
    at(now_ns);
    if (syncing_ > 0) --syncing_;
    if (syncing_ == 0) away_since_ns_ = now_ns;
    report();
}

/// The first launch after a synchronisation shows how long the program was idle.
void GpuCompute::note_return(std::int64_t now_ns) {
    if (away_since_ns_ == 0) return;
    const std::int64_t gap = std::max<std::int64_t>(0, now_ns - away_since_ns_);
    usual_gap_ns_ = usual_gap_ns_ == 0 ? gap : usual_gap_ns_ + (gap - usual_gap_ns_) / 4;
    away_since_ns_ = 0;
}

/// Clock readings of several threads arrive in any order.
void GpuCompute::at(std::int64_t now_ns) {
    if (now_ns <= now_ns_) return;
    if (now_ns_ != 0) waited_ns_ += (now_ns - now_ns_) * waiting_;
    now_ns_ = now_ns;
}

void GpuCompute::report() {
    if (reports_ == nullptr) return;
    constexpr auto kRelaxed = std::memory_order_relaxed;
    wire::GpuReport& out = reports_->gpus[gpu_];
    const Figures figures = meter_.figures();
    out.used_ns.store(figures.used_ns, kRelaxed);
    out.oldest_start_ns.store(figures.oldest_start_ns, kRelaxed);
    out.oldest_ns.store(figures.oldest_ns, kRelaxed);
    out.waited_ns.store(waited_ns_, kRelaxed);
    out.longest_ns.store(figures.longest_ns, kRelaxed);
    out.usual_gap_ns.store(usual_gap_ns_, kRelaxed);
    out.launches.store(figures.launches, kRelaxed);
    out.wants.store(waiting_, kRelaxed);
    out.syncing.store(syncing_, kRelaxed);
    out.unmeasured.store(figures.unmeasured ? 1 : 0, kRelaxed);
    out.updated_ns.store(std::max<std::int64_t>(now_ns_, 1), kRelaxed);  // 0: never
    // Last, so that a reader that sees the drained GPU also sees the time that was used.
    out.in_flight_ns.store(figures.in_flight_ns, std::memory_order_release);
}

}  // namespace cgpu::module
