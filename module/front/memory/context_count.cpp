#include "module/front/memory/context_count.hpp"

#include <array>
#include <utility>

#include "module/front/contexts/context_key.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/memory/set_aside.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

/// Without the driver's persistence mode a first context takes seconds on large machines.
constexpr std::int64_t kMakingTakes = 60 * kSecond;

template <std::size_t... Index>
constexpr std::array<ContextCount, sizeof...(Index)> one_for_each_gpu(std::index_sequence<Index...>) {
    return {ContextCount(Index)...};
}
constinit std::array<ContextCount, wire::kMaxGpus> counts =
    one_for_each_gpu(std::make_index_sequence<wire::kMaxGpus>());

}  // namespace

ContextCount& context_count(int gpu) { return counts[static_cast<std::size_t>(gpu)]; }

/// Counts one more. False: the first one is still being made, and its outcome is unknown.
bool ContextCount::enter(bool& first) {
    const auto until = now_ns() + kMakingTakes;
    while (true) {
        mutex_.lock();
        const auto state = state_.load();
        first = state == kNone;
        if (first) state_.store(kMaking);
        if (state != kMaking) ++count_;
        mutex_.unlock();
        if (state != kMaking) return true;
        if (now_ns() > until) return false;
        futex_wait(&state_, kMaking, until);
    }
}

void ContextCount::leave_first(bool made) {
    mutex_.lock();
    if (state_.load() == kMaking) state_.store(made ? kHeld : kNone);
    mutex_.unlock();
    futex_wake_all(&state_);
}

CUresult ContextCount::before_create(int gpu, bool primary, Making& making) {
    if (!enter(making.first)) return kOutOfMemory;
    unsigned flags = 0;
    int active = 0;
    const bool exists =
        primary && !making.first &&
        real::cuDevicePrimaryCtxGetState(session().device_of(gpu_), &flags, &active) == kSuccess &&
        active != 0;
    if (exists) return kSuccess;
    const auto estimate = session().context_estimate();
    const CUresult refused = set_aside(wire::Topic::context, gpu, estimate, making.aside);
    if (refused != kSuccess) {
        if (making.first) leave_first(false);
        leave();
    }
    return refused;
}

void ContextCount::after_create(const Making& making, bool created) {
    if (making.first) leave_first(created);
    end_aside(making.aside, created);
    if (!created) return leave();
    if (making.aside.bytes == 0) session().link().tell(wire::Topic::moved, gpu_);
}

void ContextCount::adopt() {
    mutex_.lock();
    if (count_++ == 0) state_.store(kHeld);
    mutex_.unlock();
    // The context exists already, so a refusal would change nothing.
    session().link().tell(wire::Topic::moved, gpu_);
}

void ContextCount::destroyed() { leave(); }

void ContextCount::leave() {
    mutex_.lock();
    const bool last = --count_ == 0;
    if (last) state_.store(kNone);
    mutex_.unlock();
    if (!last) return session().link().tell(wire::Topic::moved, gpu_);
    session().engine().release_context(any_context_key(static_cast<int>(gpu_)));
    session().link().tell(wire::Topic::context_gone, gpu_);
}

void ContextCount::reset_in_child() {
    mutex_.reset_in_child();
    count_ = 0;
    state_.store(kNone);
}

}  // namespace cgpu::front
