#include "daemon/app/compute/instance_processes.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cgpu::app {
namespace {

using schedule::GateOrder;
using schedule::kForever;
using schedule::kMilli;
using schedule::kSecond;

/// If a page is unchanged for this long after its predicted drain, its process is stopped: the work that it
/// claims to have in flight is not waited for.
constexpr Nanos kStaleAfter = 100 * kMilli;
/// A process is woken when its gate opens, and then its page changes. A process that stays silent for longer
/// than this is stopped, or gets no CPU: others needn't wait for it. This doesn't apply while it has work in
/// flight: then it may be waiting for room in its window.
constexpr Nanos kUnresponsiveAfter = 50 * kMilli;
/// A claim of more work in flight than this is no basis for a plan.
constexpr Nanos kMostInFlight = 10 * kSecond;
/// A launch that passed just before its gate closed is reported within this time.
constexpr Nanos kSettled = 5 * kMilli;
/// Poll interval for the report of an instance that is held with nothing in flight: the page is only its
/// process's claim.
constexpr Nanos kLookAgain = 20 * kMilli;
/// Poll interval for several processes at work.
constexpr Nanos kLookOften = 100 * kMilli;
/// After a restart of the daemon, processes come back within this time, also on a busy machine …
constexpr Nanos kComeBack = 3 * kSecond;
/// … and what they launched meanwhile has drained.
constexpr Nanos kSettle = 60 * kSecond;
/// They had used the GPU for longer than this before; a new one may have begun just before it was read first.
constexpr Nanos kLeastBrought = 10 * kMilli;
/// GPU time that the only instance on a GPU may have in flight in each process. A larger window means fewer
/// wakes; an instance that joins waits for at most this and one kernel, once.
constexpr std::uint32_t kAloneWindowUs = 20'000;

/// No counter of a page reaches this (73 years). A larger value is forged; sums of bounded values stay in
/// range.
constexpr Nanos kMostCounted = Nanos{1} << 61;

/// Threads wait at the same time, so the sum of their waits isn't bounded by the clock.
Nanos together(Nanos waited, Nanos more) {
    return std::min(waited + std::min(more, kMostCounted), kMostCounted);
}

Nanos bounded(const wire::Signed& field, Nanos most) {
    return std::clamp<Nanos>(field.load(std::memory_order_relaxed), 0, most);
}

wire::GateState state_of(const GateOrder& gate) {
    switch (gate.state) {
        case GateOrder::State::closed:
            return wire::GateState::closed;
        case GateOrder::State::open:
            return wire::GateState::open;
        case GateOrder::State::free:
            return wire::GateState::free;
    }
    return wire::GateState::closed;
}

bool same(const GateOrder& a, const GateOrder& b) {
    return a.state == b.state && a.limit == b.limit && a.contended == b.contended && a.alone == b.alone &&
           a.overlap == b.overlap && a.waits_across_gpus == b.waits_across_gpus;
}

/// Returns how many threads were woken, at most `most`. std::atomic has the layout of its value here (it is
/// lock-free), so the kernel can wait on it.
int wake_at_most(wire::Word& word, int most) {
    const auto woken =
        syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, most, nullptr, nullptr, 0);
    return std::clamp(static_cast<int>(woken), 0, most);
}

}  // namespace

void InstanceProcesses::add(std::shared_ptr<ProcessPages> pages) {
    only_waits_ = false;
    renew_at_ = 0;
    Member member;
    member.base = bounded(pages->reports->gpus[gpu_].used_ns, kMostCounted);
    member.pages = std::move(pages);
    members_.push_back(std::move(member));
}

void InstanceProcesses::remove(const model::Process& process, Nanos now) {
    only_waits_ = false;
    Nanos left = 0;
    std::erase_if(members_, [&](Member& member) {
        if (member.pages->process != process) return false;
        // Its last report: an instance that is alone on its GPU is read seldom.
        read_counts(member, now);
        read_waits(member);
        const Nanos lost = lost_at_end(member, now);
        left += take_fresh(member) + lost;
        gone_.used += member.used + lost;
        gone_.waited = together(gone_.waited, member.waited);
        gone_.launches += member.launches;
        gone_.longest_kernel = std::max(gone_.longest_kernel, member.longest);
        return true;
    });
    count(billed_.own(), now, left);
}

void InstanceProcesses::read_counts(Member& member, Nanos now) const {
    const auto& report = member.pages->reports->gpus[gpu_];
    if (member.first_seen == 0) member.first_seen = now;
    // It can't have used more than the time that passed, and its use never shrinks. Any excess on a page was
    // used before: a process that reconnected after a restart of the daemon has a new page, whose first
    // report is all that it ever used.
    const auto total = bounded(report.used_ns, kMostCounted);
    member.base = std::max(member.base, total - (now - member.first_seen));
    member.used = std::max(member.used, total - member.base);
    member.waited = std::max(member.waited, bounded(report.waited_ns, kMostCounted));
    member.longest = std::max(member.longest, bounded(report.longest_ns, 3600 * kSecond));
    member.launches = std::max(member.launches, report.launches.load(std::memory_order_relaxed));
}

void InstanceProcesses::check(Member& member, Nanos in_flight, Nanos now) {
    const auto& report = member.pages->reports->gpus[gpu_];
    schedule::PageCheck::Claim claim;
    claim.used = report.used_ns.load(std::memory_order_relaxed);
    claim.in_flight = in_flight;
    claim.wants = report.wants.load(std::memory_order_relaxed) != 0;
    claim.updated = report.updated_ns.load(std::memory_order_relaxed);
    if (claim.updated == 0 && claim.used == 0) return;  // nothing is reported yet
    if (member.check.plausible(claim, now)) return;
    doubtful_process_ = member.pages->process.pid;
}

void InstanceProcesses::read_waits(Member& member) {
    const auto& page = member.pages->reports->waits[gpu_];
    for (std::size_t i = 0; i < wire::kWaitBuckets; ++i) {
        const std::uint32_t count = page.counts[i].load(std::memory_order_relaxed);
        waits_.counts[i] += count - std::exchange(member.waits_read[i], count);
    }
    const Nanos ended = std::max(member.waits_ended, bounded(page.sum_ns, kMostCounted));
    waits_.sum =
        static_cast<std::uint64_t>(together(static_cast<Nanos>(waits_.sum), ended - member.waits_ended));
    member.waits_ended = ended;
}

void InstanceProcesses::read_member(Member& member, Nanos now) {
    const auto& report = member.pages->reports->gpus[gpu_];
    // First: a process that has measured work writes what it used before what is left.
    const auto in_flight = report.in_flight_ns.load(std::memory_order_acquire);
    read_counts(member, now);
    check(member, in_flight, now);
    member.in_flight = std::clamp<Nanos>(in_flight, 0, kMostInFlight);
    // Often there is one process for each GPU, and each of them has pages for all GPUs.
    if (member.launches > 0 || member.in_flight > 0) ++launching_;

    const auto oldest = bounded(report.oldest_ns, member.in_flight);
    const auto began = bounded(report.oldest_start_ns, now);
    const auto progress = began > 0 ? std::min(oldest, now - began) : 0;
    const auto remaining = member.in_flight - progress;
    const auto updated = bounded(report.updated_ns, now);
    if (!member.reported && (updated > 0 || member.used > 0)) {
        member.reported = true;
        member.came_back = member.base > kLeastBrought;
    }
    if (member.reported && member.in_flight == 0) member.drained = true;
    const bool none_left = member.in_flight == 0;
    const bool silent = !none_left && now > updated + member.in_flight + kStaleAfter;
    if (updated != member.updated) member.called_at = 0;
    member.updated = updated;
    sum_.used += member.used;
    sum_.waited = together(sum_.waited, member.waited);
    member.wants = report.wants.load(std::memory_order_relaxed) != 0;
    if (member.wants) {
        const bool unresponsive =
            member.called_at != 0 && now - member.called_at > kUnresponsiveAfter && (none_left || silent);
        unresponsive_ = unresponsive_ || unresponsive;
        sum_.wants = sum_.wants || !unresponsive;
        sum_.waited =
            together(sum_.waited, (unresponsive ? member.called_at + kUnresponsiveAfter : now) - updated);
        only_waits_ = only_waits_ && member.called_at == 0;
        ++waiting_;
    }
    if (report.syncing.load(std::memory_order_relaxed) != 0) {
        sum_.syncing = true;
        sum_.usual_gap = std::max(sum_.usual_gap, bounded(report.usual_gap_ns, kSecond));
    }
    if (none_left) return;
    oldest_start_ = std::min(oldest_start_, began);
    ++active_;
    if (silent) {
        ++stale_;
        member.in_flight = 0;
        return;
    }
    sum_.in_flight_estimate += member.in_flight;
    // By the estimate nothing is left, but the work is not measured yet: it has not drained.
    sum_.remaining += std::max<Nanos>(remaining, 1);
    if (report.unmeasured.load(std::memory_order_relaxed) != 0) sum_.unmeasured = true;
}

void InstanceProcesses::read_all(Nanos now) {
    sum_ = {};
    active_ = stale_ = waiting_ = launching_ = 0;
    oldest_start_ = now;
    unresponsive_ = false;
    only_waits_ = true;
    for (auto& member : members_) read_member(member, now);
    sum_.used += gone_.used;
    sum_.waited = together(sum_.waited, gone_.waited);
    sum_.alone_process = launching_ <= 1;
    sum_.stale = active_ > 0 && stale_ == active_;
    only_waits_ = only_waits_ && waiting_ > 0 && active_ == 0 && closed_at_ && now - *closed_at_ >= kSettled;
    read_at_ = now;
}

schedule::Reading InstanceProcesses::read(Nanos now) {
    if (!only_waits_ || now - read_at_ >= kLookAgain) read_all(now);
    auto sum = sum_;
    if (only_waits_) sum.waited = together(sum.waited, waiting_ * (now - read_at_));
    return sum;
}

void InstanceProcesses::publish(const GateOrder& gate, Nanos now, Nanos holds_until) {
    const bool closed = gate.state == GateOrder::State::closed;
    // Not in every step: a store into each process's page is a cache miss.
    const bool renew = now >= renew_at_;
    if (closed && only_waits_ && !renew) return;
    if (!closed) only_waits_ = false;
    if (!closed || !closed_at_) closed_at_ = closed ? std::optional(now) : std::nullopt;
    if (renew) renew_at_ = now + (holds_until - now) / 8;
    for (auto& member : members_) {
        auto mine = gate;
        if (gate.limit != kForever) {
            // The limit is the instance's; this process may use the rest of it.
            const auto left = std::max<Nanos>(0, gate.limit - sum_.used - sum_.in_flight_estimate);
            mine.limit = member.base + member.used + member.in_flight + left;
        }
        auto& page = member.pages->orders->gates[gpu_];
        if (renew || !member.written) page.holds_until_ns.store(holds_until, std::memory_order_relaxed);
        if (member.written && same(mine, member.gate)) {
            if (member.to_wake == 0) call(member, now);
            continue;
        }
        const bool more =
            !member.written || mine.state != member.gate.state || mine.limit > member.gate.limit;
        const auto state = state_of(mine);
        // A closing gate changes its state first; an opening gate has its limit set before.
        if (state == wire::GateState::closed)
            page.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
        page.limit_ns.store(mine.limit, std::memory_order_relaxed);
        page.window_us.store(mine.alone ? kAloneWindowUs : 0, std::memory_order_relaxed);
        page.contended.store(mine.contended ? 1 : 0, std::memory_order_relaxed);
        const auto overlap =
            mine.waits_across_gpus ? wire::Overlap::waits_across_gpus : wire::Overlap::others;
        page.overlap.store(mine.overlap ? static_cast<std::uint32_t>(overlap) : 0, std::memory_order_relaxed);
        page.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
        page.seq.fetch_add(1, std::memory_order_release);
        // Waiting threads may have been held at a higher limit, by estimates that turned out too long.
        if (state == wire::GateState::closed) {
            member.to_wake = 0;
        } else if (more || member.wants) {
            member.to_wake = kMostWakesOfAProcess;
        }
        member.gate = mine;
        member.written = true;
    }
    wake_some(now);
}

void InstanceProcesses::call(Member& member, Nanos now) {
    if (member.gate.state == GateOrder::State::open && member.wants && member.called_at == 0)
        member.called_at = now;
}

void InstanceProcesses::wake_some(Nanos now) {
    wakes_left_ = false;
    int left = kMostWakes;
    // At most one round, from where the last call ended: if gates close before all threads are woken, other
    // threads come first the next time.
    for (std::size_t i = 0; i < members_.size() && left > 0; ++i) {
        if (wake_next_ >= members_.size()) wake_next_ = 0;
        auto& member = members_[wake_next_];
        if (member.to_wake == 0) {
            ++wake_next_;
            continue;
        }
        const int most = std::min(left, member.to_wake);
        const int woken = wake_at_most(member.pages->orders->gates[gpu_].seq, most);
        left -= std::max(woken, 1);
        member.to_wake = woken == most ? member.to_wake - woken : 0;
        if (member.to_wake == 0) ++wake_next_;
        call(member, now);
    }
    if (left <= 0)
        wakes_left_ = std::any_of(members_.begin(), members_.end(),
                                  [](const Member& member) { return member.to_wake > 0; });
}

std::vector<std::int32_t> InstanceProcesses::pids() const {
    std::vector<std::int32_t> pids;
    for (const auto& member : members_) pids.push_back(member.pages->process.pid);
    return pids;
}

std::vector<model::Process> InstanceProcesses::all() const {
    std::vector<model::Process> all;
    for (const auto& member : members_) all.push_back(member.pages->process);
    return all;
}

std::vector<ComputeReport> InstanceProcesses::reports() const {
    std::vector<ComputeReport> all;
    for (const auto& member : members_) {
        const auto& report = member.pages->reports->gpus[gpu_];
        all.push_back({member.pages->process, member.pages.get(), bounded(report.used_ns, kMostCounted),
                       bounded(report.in_flight_ns, kMostInFlight) > 0,
                       bounded(report.oldest_start_ns, kMostCounted),
                       member.pages->reports->small_transfers.load(std::memory_order_relaxed)});
    }
    return all;
}

bool InstanceProcesses::is_at_work() const {
    return sum_.wants || std::ranges::any_of(members_, [&](const Member& member) {
               return bounded(member.pages->reports->gpus[gpu_].in_flight_ns, kMostInFlight) > 0;
           });
}

view::LaunchWaits InstanceProcesses::launch_waits() {
    for (Member& member : members_) read_waits(member);
    return waits_;
}

bool InstanceProcesses::settles(Nanos now, Nanos back_until) const {
    return std::ranges::any_of(members_, [&](const Member& member) {
        const Nanos passed = now - member.first_seen;
        // What a process has used before is its own claim, and new ones may come at any time.
        return member.came_back && member.first_seen <= back_until &&
               passed < (member.drained ? kComeBack : kSettle);
    });
}

Nanos InstanceProcesses::take_fresh(Member& member) {
    return member.used - std::exchange(member.seen, member.used);
}

/// What a process has in flight ends with it, and nobody measures it any more: otherwise whoever kills a
/// process before its kernel ends would have had the kernel for nothing. One that has reported nothing for
/// long waits for a long kernel, or was stopped, and then the GPU may have been idle.
Nanos InstanceProcesses::lost_at_end(const Member& member, Nanos now) const {
    const auto& report = member.pages->reports->gpus[gpu_];
    const auto in_flight = bounded(report.in_flight_ns, kMostInFlight);
    // With what it has measured of other streams that is no more than its time.
    const Nanos most = now - member.first_seen - member.used;
    if (in_flight == 0 || most <= 0) return 0;
    const auto until = std::min(now, bounded(report.updated_ns, now) + kMostInFlight);
    return std::clamp<Nanos>(until - bounded(report.oldest_start_ns, now), 0, most);
}

void InstanceProcesses::count(bool own, Nanos now, Nanos left) {
    int with_use = left > 0 ? 1 : 0;
    schedule::CommonUse::Measured measured{left, false, is_open(), active_ > 0, std::min(oldest_start_, now),
                                           now};
    for (Member& member : members_) {
        const Nanos its = take_fresh(member);
        measured.fresh += its;
        with_use += its > 0 ? 1 : 0;
        if (member.first_seen != 0)
            measured.first_seen_at = std::min(measured.first_seen_at, member.first_seen);
    }
    measured.several = launching_ > 1 || with_use > 1;
    billed_.measured(common_.believed(measured, now), measured.several, own);
}

Nanos InstanceProcesses::look_within() const {
    if (members_.size() < 2) return kForever;
    return launching_ > 1 && (active_ > 0 || waiting_ > 0) ? kLookOften : kSecond;
}

InstanceProcesses::Totals InstanceProcesses::totals() const {
    auto sum = gone_;
    sum.used = billed_.total();
    for (const auto& member : members_) {
        sum.waited = together(sum.waited, member.waited);
        sum.launches += member.launches;
        sum.longest_kernel = std::max(sum.longest_kernel, member.longest);
    }
    return sum;
}

}  // namespace cgpu::app
