#include "module/front/process/switcher.hpp"

#include <sys/prctl.h>

#include "module/front/base/thread.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit Switcher the_switcher;

/// If the daemon does not read its socket, the result is sent later. A daemon that was restarted meanwhile
/// learned the version with the Welcome that it sent.
void answer(const wire::Switched& told) {
    constexpr std::int64_t kPatience = 10 * kSecond;
    const auto until = now_ns() + kPatience;
    while (session().link().tell_engine(told) == Sent::full && now_ns() < until)
        sleep_until(now_ns() + 10 * kMillisecond);
}

}  // namespace

Switcher& switcher() { return the_switcher; }

void Switcher::carry_out(const wire::Switch& order) {
    {
        const Locked lock(mutex_);
        order_ = order;
        ordered_ = true;
        if (running_) return;
        running_ = true;
    }
    if (start_thread(run, this)) return;
    {
        const Locked lock(mutex_);
        running_ = ordered_ = false;
    }
    wire::Switched refusal = session().engine().running();
    refusal.header.request = order.header.request;
    refusal.result = wire::SwitchResult::busy;
    wire::put_text(refusal.detail, "no thread for it");
    session().link().tell_engine(refusal);
}

bool Switcher::take_order(wire::Switch& order) {
    const Locked lock(mutex_);
    running_ = ordered_;
    if (ordered_) order = order_;
    ordered_ = false;
    return running_;
}

void* Switcher::run(void* self) {
    prctl(PR_SET_NAME, "cgpu-switch");
    wire::Switch order{};
    while (static_cast<Switcher*>(self)->take_order(order)) answer(session().engine().exchange(order));
    return nullptr;
}

void Switcher::reset_in_child() {
    mutex_.reset_in_child();
    running_ = ordered_ = false;
}

}  // namespace cgpu::front
