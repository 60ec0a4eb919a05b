#include "tests/unit/core/schedule/machine/schedule_process.hpp"

#include <algorithm>

namespace cgpu::schedule::sim {

Process::Process(Gpu& gpu, const Workload& work, std::mt19937_64& random)
    : gpu_(gpu),
      work_(work),
      random_(random),
      context_(gpu.add_context()),
      estimates_(work.kernels.size(), -1),
      provisional_(work.kernels.size(), true) {}

Nanos Process::remaining(Nanos now) const {
    if (in_flight_ == 0) return 0;
    // Only the oldest batch can be partly done; it doesn't count as over before its end was seen.
    const Nanos oldest = out_.empty() ? filling_->estimate : out_.front().estimate;
    return std::max<Nanos>(1, in_flight_ - std::clamp<Nanos>(now - oldest_start_, 0, oldest));
}

Reading Process::reading(Nanos now) const {
    Reading r;
    r.wants = wants_;
    r.waited = waited_ + (blocked_ ? now - blocked_since_ : 0);
    r.used = used_;
    r.in_flight_estimate = in_flight_;
    r.remaining = remaining(now);
    r.syncing = syncing_;
    r.usual_gap = gap_;
    r.unmeasured = (filling_ && filling_->unmeasured) ||
                   std::any_of(out_.begin(), out_.end(), [](const Batch& b) { return b.unmeasured; });
    return r;
}

Nanos Process::next_duration() {
    Nanos duration = work_.kernels[kind_];
    if (work_.jitter > 0) {
        const double off = std::uniform_real_distribution<>(-work_.jitter, work_.jitter)(random_);
        duration = std::max(kMicro, static_cast<Nanos>(static_cast<double>(duration) * (1 + off)));
    }
    if (work_.rare_permille > 0 && static_cast<int>(random_() % 1000) < work_.rare_permille)
        return work_.rare;
    return duration;
}

void Process::launch(Nanos now, const GateOrder& gate) {
    const bool unmeasured = estimates_[kind_] < 0;
    const Nanos estimate = unmeasured ? kBatch : estimates_[kind_];
    Gpu::Kernel kernel;
    kernel.duration = next_duration();
    kernel.arrival = now;
    kernel.rendezvous = work_.rendezvous.get();
    kernel.side = work_.side;
    kernel.number = launched_;
    const auto number = gpu_.launch(context_, kernel);
    if (!filling_) {
        filling_ = Batch{number, number, 0, 0, kind_, true, unmeasured, false};
        if (in_flight_ == 0) oldest_start_ = now;
    }
    Batch& b = *filling_;
    b.last = number;
    b.estimate += estimate;
    ++b.count;
    b.one_kind = b.one_kind && b.kind == kind_;
    b.overlapped = b.overlapped || gate.overlap;
    in_flight_ += estimate;
    kind_ = (kind_ + 1) % work_.kernels.size();
    if (in_burst_++ == 0) burst_first_ = number;
    ++launched_;
}

bool Process::close_batch() {
    if (!filling_) return false;
    out_.push_back(*filling_);
    filling_.reset();
    return !gpu_.report(context_, out_.back().last);
}

Process::Todo Process::run(Nanos now, const GateOrder& gate, Nanos reached) {
    Todo todo;
    if (syncing_) return todo;
    updated_ = now;
    if (blocked_) waited_ += now - blocked_since_;
    blocked_ = false;
    blocked_since_ = now;
    if (burst_since_ < 0) {
        burst_since_ = now;
        if (idle_since_ >= 0) gap_ = (3 * gap_ + now - idle_since_) / 4;
    }
    // Several launches per event, to save events: the times between them are kept.
    for (int k = 0; k < 8; ++k) {
        const Nanos at = now + k * work_.launch_cost;
        if (work_.burst > 0 && in_burst_ >= work_.burst) {
            syncing_ = true;
            todo.reported = close_batch();
            if (in_flight_ == 0) return finish_wait(at, gate);
            todo.ring = gate.contended;
            return todo;
        }
        if (!gpu_.room(context_)) break;
        const bool passes = gate.state == GateOrder::State::free ||
                            (gate.state == GateOrder::State::open &&
                             (gate.limit == kForever || work_.ignores_limit || reached < gate.limit));
        if (!passes) {
            todo.reported = close_batch();
            todo.ring = !wants_;
            wants_ = blocked_ = by_gate_ = true;
            return todo;
        }
        const bool unmeasured = estimates_[kind_] < 0;
        if (in_flight_ > 0 && !work_.ignores_window && (unmeasured || remaining(at) >= kWindow)) {
            todo.reported = close_batch();
            blocked_ = true;
            by_gate_ = false;
            return todo;
        }
        wants_ = false;
        const Nanos before = in_flight_;
        launch(at, gate);
        reached += in_flight_ - before;
        if (unmeasured || filling_->estimate >= kBatch || filling_->count >= kMostInBatch) {
            todo.reported = close_batch() || todo.reported;
        }
    }
    todo.run_after = gpu_.room(context_) ? 8 * work_.launch_cost : 50 * kMicro;
    return todo;
}

void Process::learn(const Batch& batch, Nanos took, bool overlap) {
    if (batch.one_kind) {
        const Nanos each = took / batch.count;
        Nanos& estimate = estimates_[batch.kind];
        if (provisional_[batch.kind]) {
            // An estimate measured under overlap is too long, but better than none.
            estimate = overlap && estimate >= 0 ? std::min(estimate, each) : each;
            provisional_[batch.kind] = overlap;
        } else if (!overlap) {
            estimate = (std::min(each, 4 * estimate) + 3 * estimate) / 4;
        }
        return;
    }
    if (overlap) return;
    mixed_took_ += static_cast<double>(took);
    mixed_estimate_ += static_cast<double>(batch.estimate);
    if (mixed_estimate_ < 4.0 * static_cast<double>(kBatch)) return;
    const double scale = std::clamp(mixed_took_ / mixed_estimate_, 0.5, 2.0);
    for (Nanos& e : estimates_) {
        if (e > 0) e = std::max<Nanos>(500, static_cast<Nanos>(static_cast<double>(e) * (0.5 + 0.5 * scale)));
    }
    mixed_took_ = mixed_estimate_ = 0;
}

void Process::measure(const Batch& batch, bool overlap) {
    const Gpu::Kernel& last = gpu_.kernel(context_, batch.last);
    const Nanos from = std::max(mark_, gpu_.kernel(context_, batch.first).begun);
    const Nanos took = std::max<Nanos>(0, last.done - from);
    used_ += took;
    mark_ = std::max(mark_, last.done);
    oldest_start_ = last.done;
    in_flight_ -= batch.estimate;
    learn(batch, took, overlap || batch.overlapped);
}

Process::Todo Process::completed(Nanos now, const GateOrder& gate) {
    Todo todo;
    updated_ = now;
    while (!out_.empty() && gpu_.done(context_) > out_.front().last) {
        measure(out_.front(), gate.overlap);
        out_.pop_front();
    }
    const bool drained = out_.empty() && !filling_;
    if (drained && syncing_) return finish_wait(now, gate);
    todo.ring = drained && (gate.state == GateOrder::State::closed || (blocked_ && by_gate_));
    if (blocked_) todo.run_after = 0;
    return todo;
}

Process::Todo Process::finish_wait(Nanos now, const GateOrder& gate) {
    Todo todo;
    delays_.push_back(gpu_.kernel(context_, burst_first_).begun - burst_since_);
    syncing_ = false;
    idle_since_ = now;
    burst_since_ = -1;
    in_burst_ = 0;
    todo.ring = gate.contended;
    todo.run_after = work_.think;
    return todo;
}

bool Process::gate_changed(const GateOrder& gate, Todo& todo) {
    if (gate.state == GateOrder::State::closed) {
        if (filling_) todo.reported = close_batch();
        return false;
    }
    return blocked_ && by_gate_;
}

}  // namespace cgpu::schedule::sim
