#include "module/front/switcher.hpp"

#include <sys/prctl.h>

#include "module/front/session.hpp"
#include "module/front/thread.hpp"
#include "module/front/waiting.hpp"

namespace cgpu::front {
namespace {

constinit Switcher the_switcher;

/// A daemon that doesn't read its link for a while hears it a little later; one that is another by then has
/// been told what runs here with its Welcome.
void answer(const wire::Switched& told) {
    constexpr std::int64_t kPatience = 10 * kSecond;
    const auto until = now_ns() + kPatience;
    while (session().link().tell_engine(told) == Sent::full && now_ns() < until)
        sleep_until(now_ns() + 10 * kMillisecond);
}

}  // namespace

Switcher& switcher() { return the_switcher; }

void Switcher::carry_out(const wire::Switch& order) {
    const bool free = !under_way_.exchange(true);
    if (free) {
        order_ = order;
        if (start_thread(run, this)) return;
        under_way_.store(false);
    }
    wire::Switched refusal = session().engine().running();
    refusal.header.request = order.header.request;
    refusal.result = wire::SwitchResult::busy;
    wire::put_text(refusal.detail, free ? "no thread for it" : "another exchange is under way");
    session().link().tell_engine(refusal);
}

void* Switcher::run(void* self) {
    prctl(PR_SET_NAME, "cgpu-switch");
    auto& mine = *static_cast<Switcher*>(self);
    const wire::Switched told = session().engine().exchange(mine.order_);
    // First: the next order may follow the answer at once.
    mine.under_way_.store(false);
    answer(told);
    return nullptr;
}

}  // namespace cgpu::front
