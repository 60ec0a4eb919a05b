#include "module/engine/compute/meter.hpp"

#include <algorithm>
#include <limits>

#include "module/engine/compute/learning.hpp"

namespace cgpu::module {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kBatchLaunches = 1024;
constexpr std::int64_t kRunTime = 250'000;  // ns
/// Eight would cost half as many questions again where functions come in any order, and charge no better.
constexpr std::uint32_t kAskedFunctions = 4;

constexpr std::int64_t kSurelyIdle = 5'000;  // ns: that the estimates of the shortest kernels are off by
constexpr std::int64_t kAtOnce = 50'000;     // ns: an event on an idle stream, and what two clocks differ by

}  // namespace

Admission Meter::admit(const Launch& launch, const Allowance& allowance) {
    const std::int64_t now = launch.now_ns;
    const Cost cost = cost_of(launch);
    Admission admission;
    if (held(allowance, cost, now, admission)) return admission;

    Batch* batch = batches_.first([&](const Batch& each) {
        return each.state == BatchState::open && each.context == launch.context &&
               each.stream == launch.stream;
    });
    const Sampling::Turn turn = turn_of(launch, cost, batch);
    if (turn == Sampling::Turn::wait) return Admission::waits_until(sampling_.ask_again_at(now));
    const bool alone = turn == Sampling::Turn::alone || is_due_alone(launch, cost, batch);
    if (batch != nullptr && batch->launches > 0 && (alone || is_too_much(launch, cost, *batch))) {
        if (turn == Sampling::Turn::alone) filled_.note(*batch);
        begin_closing(*batch);
        admission.close_first = batch->id;
        batch = nullptr;
    }
    if (batch == nullptr) {
        batch = open_batch(launch, allowance.overlap);
        ++launches_;
        if (batch == nullptr) return admission;
        --launches_;
        admission.opens = true;
    }
    if (turn == Sampling::Turn::alone) sample_ = batch->id;
    batch->found_idle = alone && backlog_.idle_ns(now) >= kSurelyIdle;
    note_gap(now);
    if (!cost.measured && !batch->unmeasured) {
        batch->unmeasured = true;
        ++unmeasured_;
    }
    if (batch->last_count > 0)
        batch->pace_ns = std::max<std::int64_t>(0, now - batch->last_ns) / batch->last_count;
    batch->last_count = 1;
    put_in(*batch, launch, cost);
    batch->scale = cost.scale;
    admission.batch = batch->id;
    admission.cost_ns = static_cast<std::int64_t>(static_cast<double>(cost.each_ns) / cost.scale);
    if (alone) functions_.sampling(launch.function);
    if (alone || batch->estimate_ns >= kBatchLengthNs || batch->launches >= kBatchLaunches) {
        if (!alone) filled_.note(*batch);
        begin_closing(*batch);
        admission.closes = true;
        return admission;
    }
    grant_time(*batch, launch, cost, room_for_more(*batch, cost, allowance, now), admission);
    return admission;
}

Sampling::Turn Meter::turn_of(const Launch& launch, const Cost& cost, const Batch* batch) {
    return sampling_.turn({.now_ns = launch.now_ns,
                           .launches = launches_,
                           .context = launch.context,
                           .stream = launch.stream,
                           .begins_batch = batch == nullptr || batch->launches == 0,
                           .doubted = functions_.is_doubted(launch.function),
                           .any_doubted = functions_.doubted() > 0,
                           .in_flight_ns = flight().remaining(launch.now_ns),
                           .beside = cost.beside,
                           .idle = batches_.empty(),
                           .waits = estimating_.program_waits()});
}

/// Whether the launch must be measured by itself. If all launches of its batch are of its function, the batch
/// measures as well.
bool Meter::is_due_alone(const Launch& launch, const Cost& cost, const Batch* batch) {
    if (!cost.measured) return true;
    const bool of_its_kind =
        batch != nullptr && batch->function_count == 1 && batch->last_function == launch.function;
    return !of_its_kind && functions_.due_for_sample(launch.function);
}

/// Whether the launch would make a batch without a start event so long, or so uncertain, that it must be
/// measured.
bool Meter::is_too_much(const Launch& launch, const Cost& cost, const Batch& batch) {
    return batch.estimated && (batch.estimate_ns + cost.each_ns > Estimating::kLongestNs ||
                               !functions_.is_steady(launch.function));
}

Meter::Cost Meter::cost_of(const Launch& launch) {
    const std::int64_t known = functions_.estimate(launch.function);
    const bool beside = batches_.first([&](const Batch& each) {
        return each.context != launch.context || each.stream != launch.stream;
    }) != nullptr;
    if (known == 0) return {kBatchLengthNs, 1, false, beside};
    const double scale = beside && !sampling_.draining() ? overlap_.scale() : 1;
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(known) * scale)), scale,
            true, beside};
}

bool Meter::held(const Allowance& allowance, const Cost& cost, std::int64_t now_ns, Admission& admission) {
    if (batches_.empty()) return false;
    const Flight now_flying = flight();
    const bool one_at_a_time = !cost.measured && unmeasured_ > 0;
    if (!window_.holds(now_flying, allowance.window_ns, one_at_a_time, now_ns)) return false;
    admission = Admission::waits_until(window_.ask_again_at(now_flying, allowance.window_ns, now_ns));
    return true;
}

Flight Meter::flight() {
    const Batch* oldest = batches_.oldest();
    if (oldest == nullptr) return {0, 0, 0};
    return {in_flight_ns_, oldest->start_ns, oldest->estimate_ns};
}

Batch* Meter::open_batch(const Launch& launch, wire::Overlap overlap) {
    const bool first = batches_.empty();
    estimating_.batch_opens();
    bool beside = false;
    batches_.each([&](Batch& each) {
        if (each.context == launch.context && each.stream == launch.stream) return;
        each.overlapped = beside = true;
    });
    Batch* batch = batches_.add(launch.context, launch.stream, launch.now_ns);
    if (batch == nullptr) return nullptr;
    filled_.go_on_with(*batch);
    batch->overlapped = beside;
    batch->foreign = overlap != wire::Overlap::none;
    batch->waits_across_gpus = overlap == wire::Overlap::waits_across_gpus;
    if (first) window_.progressed(launch.now_ns);
    return batch;
}

/// GPU time that may be granted in advance: up to one nanosecond less than what closes the batch, so that the
/// launch that closes it asks.
std::int64_t Meter::room_for_more(const Batch& batch, const Cost& cost, const Allowance& allowance,
                                  std::int64_t now_ns) {
    const std::int64_t length = batch.estimated ? Estimating::kLongestNs : kBatchLengthNs;
    const std::int64_t room =
        std::min(length - 1 - batch.estimate_ns, allowance.window_ns - flight().remaining(now_ns));
    return allowance.room_ns == kNever ? room : std::min(room, allowance.room_ns - cost.each_ns);
}

/// How many launches may follow without asking, by their mean cost in this batch: twice as many as it has
/// already, or the batch before it had if that was filled; but at their pace no more than a quarter of a
/// millisecond, because they count as running until they come. Each function must first have been asked about
/// in the batch, until it contains kAskedFunctions: so batches of one function are told from others, and a
/// batch's time corrects the estimates of some of its functions.
void Meter::grant_time(Batch& batch, const Launch& launch, const Cost& cost, std::int64_t room_ns,
                       Admission& admission) {
    admission.ask_after = functions_.until_sample(launch.function);
    admission.any_function = batch.function_count >= kAskedFunctions;
    const std::uint32_t shown = std::max(batch.launches, batch.launches_before);
    if (shown < 2 || room_ns < cost.each_ns) return;
    const auto until_sample = static_cast<std::uint32_t>(sampling_.until_next(launches_));
    const std::uint32_t most = std::min({2 * shown, kBatchLaunches - 1 - batch.launches, until_sample});
    const std::int64_t in_time = kRunTime / std::max<std::int64_t>(1, batch.pace_ns);
    const std::int64_t mean =
        std::max({cost.each_ns, batch.estimate_ns / batch.launches, batch.mean_before_ns});
    const auto count = std::min<std::int64_t>(in_time, most);
    const std::int64_t time = std::min(room_ns, count * mean);
    if (count == 0) return;
    admission.more = static_cast<std::uint32_t>(count);
    admission.time_ns = static_cast<std::int64_t>(static_cast<double>(time) / cost.scale);
    batch.add_ahead(admission.more, time);
    in_flight_ns_ += time;
    backlog_.add(time, launch.now_ns);
    launches_ += admission.more;
}

void Meter::put_in(Batch& batch, const Launch& launch, const Cost& cost) {
    batch.add(launch.function, cost.each_ns, launch.now_ns);
    functions_.count(launch.function, 1);
    in_flight_ns_ += cost.each_ns;
    backlog_.add(cost.each_ns, launch.now_ns);
    ++launches_;
}

/// If launches come more slowly than the GPU works, it is idle within an open batch; that time is not use.
void Meter::note_gap(std::int64_t now_ns) {
    const std::int64_t gap = backlog_.new_gap(now_ns);
    if (gap == 0) return;
    bool within = false;
    batches_.each([&](Batch& each) {
        if (each.state == BatchState::open && each.launches > 0) each.gap = within = true;
    });
    if (within) idle_.found(gap);
}

void Meter::return_time(BatchId id, std::uint32_t count, std::int64_t ns) {
    if (id == 0) {  // of count_unmetered
        launches_ -= std::min<std::uint64_t>(launches_, count);
        return;
    }
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    const std::int64_t estimate_before = batch->estimate_ns;
    const std::uint32_t launches_before = batch->launches;
    batch->take_back_time(count, static_cast<std::int64_t>(static_cast<double>(ns) * batch->scale));
    in_flight_ns_ -= estimate_before - batch->estimate_ns;
    backlog_.take_back(estimate_before - batch->estimate_ns);
    launches_ -= std::min<std::uint64_t>(launches_, launches_before - batch->launches);
}

/// It takes no more launches. The backlog doesn't contain yet what is launched behind it.
void Meter::begin_closing(Batch& batch) {
    batch.state = BatchState::closing;
    batch.due_mark = backlog_.mark();
}

void Meter::first_launched(BatchId id, std::int64_t ns, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr || batch->run_up_ns != 0) return;
    batch->run_up_ns = std::max<std::int64_t>(1, run_up_.counted(ns, now_ns));
    // Its work began only now: else the time until its end would be taken for idle time behind it.
    backlog_.at_least(now_ns + batch->estimate_ns);
}

void Meter::closed(BatchId id, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr || (batch->state == BatchState::closed && !batch->estimated)) return;
    // (Another version of the engine may have begun to close it.)
    if (batch->state != BatchState::closing || batch->due_mark == 0) batch->due_mark = backlog_.mark();
    batch->closed_ns = now_ns;
    batch->state = BatchState::closed;
}

std::int64_t Meter::poll_at(std::int64_t now_ns) {
    const Batch* oldest = batches_.first([](const Batch& each) { return each.state == BatchState::closed; });
    if (oldest == nullptr) return kNever;
    return look_again_at(oldest->start_ns + oldest->estimate_ns, now_ns);
}

Figures Meter::figures() {
    const Flight now_flying = flight();
    Figures figures;
    figures.used_ns = used_ns_;
    figures.in_flight_ns = now_flying.in_flight_ns;
    figures.oldest_start_ns = now_flying.oldest_start_ns;
    figures.oldest_ns = now_flying.oldest_ns;
    figures.longest_ns = longest_ns_;
    figures.launches = launches_;
    figures.unmeasured = unmeasured_ > 0;
    return figures;
}

bool Meter::adopt(const Batch& batch) {
    if (!batches_.adopt(batch)) return false;
    in_flight_ns_ += batch.estimate_ns;
    if (batch.unmeasured) ++unmeasured_;
    return true;
}

// What becomes of batches that the GPU is done with.

void Meter::reaped(BatchId id, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    end_ns = std::min(end_ns, now_ns);
    start_ns = std::min(start_ns, end_ns);
    std::int64_t since = start_ns;
    batches_.each([&](const Batch& each) { since = std::min(since, each.first_ns); });
    // Beside other work the GPU was not idle, whatever this stream was.
    const std::int64_t run_up =
        batch->overlapped || batch->foreign ? 0 : std::min(batch->run_up_ns, (end_ns - start_ns) / 2);
    start_ns += run_up;
    const std::int64_t whole = end_ns - start_ns;
    // Beside other streams a launch takes longer than its part of the time.
    const std::int64_t one_launch = whole / std::max(batch->overlapped ? 8U : 1U, batch->launches);
    const bool drained = end_ns <= batch->closed_ns + std::max(kAtOnce, one_launch);
    end_ns = end_of_use(*batch, start_ns, end_ns, drained);
    const std::int64_t covered = busy_.add(start_ns, end_ns, since);
    const std::int64_t charged = idle_.charge({.covered_ns = covered,
                                               .estimate_ns = batch->estimate_ns,
                                               .others_in_flight_ns = in_flight_ns_ - batch->estimate_ns,
                                               .gap = batch->gap});
    used_ns_ += charged;
    estimating_.measured(batch->estimate_ns, charged, now_ns);
    if (batch->launches == 1) longest_ns_ = std::max(longest_ns_, charged);
    learn_from(*batch, {charged, end_ns - start_ns, whole, run_up, end_ns, drained},
               {functions_, overlap_, sampling_});
    finish(*batch, end_ns, now_ns);
}

/// The end of the time that the batch used. The backlog counts from when launches were let through, and the
/// GPU has them some microseconds later. If the end event completed immediately, the GPU was idle before
/// it: no launch had gone into the batch for a while, and the idle time is not charged. If it completed
/// later, the estimates were too short and there was no gap; the difference to the expected end corrects
/// them. The expected end counts from when the event was recorded, since a stopped process records it only
/// after SIGCONT.
std::int64_t Meter::end_of_use(Batch& batch, std::int64_t start_ns, std::int64_t end_ns, bool drained) {
    const std::int64_t due = backlog_.due(batch.due_mark) + run_up_.usual_ns();
    const bool at_once = end_ns <= batch.closed_ns + kAtOnce;
    if (!at_once) {
        const std::int64_t late = end_ns - std::max(due, std::min(end_ns, batch.closed_ns));
        backlog_.correct(late);
        idle_.refuted(late);
    }
    const bool shows_pace = drained && batch.launches > 1;
    if (!shows_pace && end_ns > std::max(due, batch.closed_ns) + kAtOnce + batch.estimate_ns / 4) {
        batch.gap = false;
    } else if (at_once && due < batch.closed_ns) {
        batch.gap = true;
        return std::max(start_ns, end_ns - (batch.closed_ns - due));
    }
    return end_ns;
}

void Meter::lost(BatchId id, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    used_ns_ += batch->estimate_ns;
    finish(*batch, std::max(batch->start_ns, now_ns), now_ns);
}

bool Meter::may_estimate(BatchId id) {
    Batch* batch = batches_.only();
    if (batch == nullptr || batch->id != id || batch->state != BatchState::open || batch->launches != 1 ||
        batch->unmeasured || batch->foreign)
        return false;
    batch->estimated =
        estimating_.wants(batch->estimate_ns, batch->first_ns) && functions_.is_steady(batch->last_function);
    return batch->estimated;
}

void Meter::wait_begins() {
    const Batch* batch = batches_.only();
    estimating_.wait_begins(batch != nullptr && batch->state == BatchState::closed && !batch->overlapped &&
                            batch->estimate_ns <= Estimating::kLongestNs);
}

void Meter::estimated(BatchId id, std::int64_t end_ns, bool by_event, std::int64_t now_ns) {
    Batch* batch = batches_.find(id);
    if (batch == nullptr) return;
    end_ns = std::min(end_ns, now_ns);
    used_ns_ += estimating_.used({.estimate_ns = batch->estimate_ns,
                                  .since_launch_ns = end_ns - batch->first_ns,
                                  .since_close_ns = end_ns - batch->closed_ns,
                                  .by_event = by_event},
                                 now_ns);
    finish(*batch, end_ns, now_ns);
}

void Meter::finish(Batch& batch, std::int64_t end_ns, std::int64_t now_ns) {
    const bool was_oldest = &batch == batches_.oldest();
    if (batch.id == sample_) sampling_.free_gpu();
    if (batch.unmeasured) --unmeasured_;
    in_flight_ns_ -= batch.estimate_ns;
    window_.progressed(now_ns);
    batches_.remove(batch.id);
    Batch* next = batches_.oldest();
    if (next == nullptr) {
        in_flight_ns_ = 0;
        idle_.forget();
        backlog_.at_most(end_ns);
        window_.empty();
        return;
    }
    if (was_oldest) next->start_ns = std::max(next->first_ns, end_ns);
    backlog_.at_most(now_ns + in_flight_ns_);
}

}  // namespace cgpu::module
