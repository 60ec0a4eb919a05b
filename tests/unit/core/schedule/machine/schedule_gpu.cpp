#include "tests/unit/core/schedule/machine/schedule_gpu.hpp"

#include <algorithm>

namespace cgpu::schedule::sim {

std::size_t Gpu::add_context() {
    contexts_.emplace_back();
    return contexts_.size() - 1;
}

std::uint64_t Gpu::launch(std::size_t context, const Kernel& kernel) {
    Context& c = contexts_[context];
    c.ring[c.tail % kRing] = kernel;
    return c.tail++;
}

bool Gpu::report(std::size_t context, std::uint64_t number) {
    Context& c = contexts_[context];
    c.ring[number % kRing].reported = true;
    return c.head <= number;
}

void Gpu::kill(std::size_t context) {
    Context& c = contexts_[context];
    c.tail = c.head + (c.left >= 0 ? 1 : 0);
    if (c.left >= 0) c.ring[c.head % kRing].reported = false;
}

bool Gpu::ready(const Context& context, Nanos& next_arrival) const {
    if (context.head == context.tail) return false;
    const Nanos arrival = context.ring[context.head % kRing].arrival;
    if (arrival <= now_) return true;
    next_arrival = std::min(next_arrival, arrival);
    return false;
}

bool Gpu::spins(const Context& context) {
    const Kernel& k = context.ring[context.head % kRing];
    return k.rendezvous != nullptr && k.rendezvous->begun[1 - k.side] < k.number;
}

std::optional<std::size_t> Gpu::other_ready(Nanos& next_arrival) const {
    std::optional<std::size_t> first;
    const std::size_t n = contexts_.size();
    for (std::size_t k = 1; k <= n; ++k) {
        const std::size_t i = (active_.value_or(0) + k) % n;
        if (i != active_ && ready(contexts_[i], next_arrival) && !first) first = i;
    }
    return first;
}

void Gpu::begin_head(Context& context) {
    if (context.left >= 0) return;
    Kernel& k = context.ring[context.head % kRing];
    context.left = k.duration;
    k.begun = now_;
    if (k.rendezvous != nullptr) k.rendezvous->begun[k.side] = k.number;
}

std::optional<std::size_t> Gpu::advance(Nanos to) {
    while (now_ < to) {
        if (switched_at_ > now_) {
            now_ = std::min(to, switched_at_);
            continue;
        }
        Nanos arrival = kForever;
        const auto other = other_ready(arrival);
        const bool works = active_ && ready(contexts_[*active_], arrival);
        if (other && (!works || now_ >= slice_end_)) {
            active_ = other;
            switched_at_ = now_ + kSwitch;
            slice_end_ = switched_at_ + kSlice;
            continue;
        }
        if (!works) {
            now_ = std::min(to, arrival);
            continue;
        }
        if (now_ >= slice_end_) slice_end_ = now_ + kSlice;
        Context& c = contexts_[*active_];
        begin_head(c);
        const bool waits = spins(c);
        Nanos until = std::min({to, arrival, waits ? kForever : now_ + c.left});
        if (other) until = std::min(until, slice_end_);
        if (!waits) c.left -= until - now_;
        c.served += until - now_;
        now_ = until;
        if (waits || c.left > 0) continue;
        Kernel& k = c.ring[c.head % kRing];
        k.done = now_;
        c.left = -1;
        ++c.head;
        if (k.reported) return active_;
    }
    return std::nullopt;
}

}  // namespace cgpu::schedule::sim
