#include "module/front/context_count.hpp"

#include <array>

#include "module/front/session.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kAskTimeout = 10 * kSecond;

constinit std::array<ContextCount, wire::kMaxGpus> counts;

std::uint64_t estimate() {
    const auto bytes = session().context_estimate();
    return (bytes + wire::kGranule - 1) / wire::kGranule * wire::kGranule;
}

}  // namespace

ContextCount& context_count(int gpu) {
    ContextCount& count = counts[static_cast<std::size_t>(gpu)];
    count.gpu_ = static_cast<std::uint32_t>(gpu);
    return count;
}

CUresult ContextCount::before_create(int gpu) {
    const auto until = now_ns() + kAskTimeout;
    while (true) {
        mutex_.lock();
        const auto state = state_.load();
        if (state == kHeld) ++count_;
        if (state == kNone) state_.store(kAsking);
        mutex_.unlock();
        if (state == kHeld) return kSuccess;
        if (state == kNone) break;
        if (now_ns() > until) return kOutOfMemory;
        futex_wait(&state_, kAsking, until);
    }
    const bool granted = !session().isolates(gpu) || ask_daemon(until);
    mutex_.lock();
    if (granted) ++count_;
    state_.store(granted ? kHeld : kNone);
    mutex_.unlock();
    futex_wake_all(&state_);
    return granted ? kSuccess : kOutOfMemory;
}

bool ContextCount::ask_daemon(std::int64_t until_ns) {
    wire::Answer answer{};
    const bool answered =
        session().link().ask(wire::Topic::context, gpu_, estimate(), until_ns, true, answer);
    // An answer that comes after all must not leave its bytes reserved.
    if (!answered) session().link().tell(wire::Topic::context_gone, gpu_);
    return answered && answer.why == wire::Why::none;
}

void ContextCount::after_create(bool created) {
    if (!created) return leave();
    session().link().tell(wire::Topic::context_done, gpu_);
}

void ContextCount::adopt() {
    mutex_.lock();
    const bool first = count_++ == 0;
    if (first) state_.store(kHeld);
    mutex_.unlock();
    if (first) {
        // It exists already, so a refusal would change nothing; the daemon looks at the driver's figure.
        session().link().tell(wire::Topic::context_done, gpu_);
    }
}

void ContextCount::destroyed() { leave(); }

void ContextCount::leave() {
    mutex_.lock();
    const bool last = --count_ == 0;
    if (last) state_.store(kNone);
    mutex_.unlock();
    if (!last) return;
    session().engine().release_context(any_context_key(static_cast<int>(gpu_)));
    session().link().tell(wire::Topic::context_gone, gpu_);
}

void ContextCount::reset_in_child() {
    mutex_.reset_in_child();
    count_ = 0;
    state_.store(kNone);
}

}  // namespace cgpu::front
