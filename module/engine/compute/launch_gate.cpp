#include "module/engine/compute/launch_gate.hpp"

#include <algorithm>
#include <limits>

namespace cgpu::module {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongestWait = 100'000'000;
constexpr std::int64_t kUsualWindow = 2'000'000;

std::int64_t later(std::int64_t time, std::int64_t ns) { return ns > kNever - time ? kNever : time + ns; }

wire::OnLoss on_loss_of(const wire::Orders& orders) {
    const bool stays_closed = orders.on_loss.load() == static_cast<std::uint32_t>(wire::OnLoss::stay_closed);
    return stays_closed ? wire::OnLoss::stay_closed : wire::OnLoss::open;
}

}  // namespace

void LaunchGate::bind(const wire::Orders* orders, std::uint32_t gpu) {
    if (orders_ != nullptr) {
        on_loss_ = on_loss_of(*orders_);
        rung_ = false;  // but what another version handed over was said on these same pages
    }
    orders_ = orders;
    gpu_ = gpu;
}

Look LaunchGate::look(std::int64_t spent_ns, std::int64_t now_ns) {
    if (orders_ == nullptr) return unconnected(now_ns);
    const wire::Gate& gate = orders_->gates[gpu_];
    Look look;
    // Read first: if a field changes after this, a wait on the value returns at once.
    look.seq = gate.seq.load(std::memory_order_acquire);
    look.word = &gate.seq;
    const std::int64_t window_us = gate.window_us.load(std::memory_order_relaxed);
    look.window_ns = window_us == 0 ? kUsualWindow : window_us * 1000;

    switch (static_cast<wire::GateState>(gate.state.load(std::memory_order_relaxed))) {
        case wire::GateState::free:
            look.passage = Passage::free;
            rung_ = false;
            return look;
        case wire::GateState::open: {
            const std::int64_t limit = gate.limit_ns.load(std::memory_order_relaxed);
            if (spent_ns >= limit) break;
            look.passage = Passage::metered;
            look.room_ns = limit == kNever ? kNever : limit - spent_ns;
            rung_ = false;
            return look;
        }
        case wire::GateState::closed:
            break;
    }
    return shut(look, gate, now_ns);  // closed, at its limit, or of a state that this version doesn't know
}

Look LaunchGate::shut(Look look, const wire::Gate& gate, std::int64_t now_ns) {
    if (!rung_) {
        look.ring = rung_ = true;
        rung_seq_ = look.seq;
        heard_ns_ = now_ns;
    } else if (look.seq != rung_seq_) {
        rung_seq_ = look.seq;
        heard_ns_ = now_ns;
    }
    look.until_ns = later(now_ns, kLongestWait);
    if (on_loss_of(*orders_) == wire::OnLoss::open) {
        const std::int64_t patience_ends = later(heard_ns_, orders_->hold_ns.load());
        const std::int64_t runs_out = std::max(gate.holds_until_ns.load(), patience_ends);
        if (now_ns > runs_out) {
            look.passage = Passage::metered;
            look.room_ns = kNever;
            return look;
        }
        look.until_ns = std::min(look.until_ns, later(runs_out, 1));
    }
    look.passage = Passage::shut;
    return look;
}

Look LaunchGate::unconnected(std::int64_t now_ns) const {
    Look look;
    look.window_ns = kUsualWindow;
    look.room_ns = kNever;
    look.until_ns = later(now_ns, kLongestWait);
    look.passage = on_loss_ == wire::OnLoss::open ? Passage::metered : Passage::shut;
    return look;
}

bool LaunchGate::drain_awaited() const {
    return orders_ != nullptr &&
           (rung_ || orders_->gates[gpu_].contended.load(std::memory_order_relaxed) != 0);
}

}  // namespace cgpu::module
