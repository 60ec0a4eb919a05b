#include "client/cgpuctl/jobs/wait_until.hpp"

#include <thread>

namespace cgpu::cgpuctl {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = client::ClientError::Kind;

/// What is waited for isn't signalled: it is what the driver shows.
constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

client::Result<void> wait_until(const Awaited& awaited, Terminal& terminal) {
    const auto give_up = Clock::now() + std::chrono::seconds(awaited.seconds);
    for (;;) {
        const auto why_not = awaited.why_not();
        const bool away = !why_not && why_not.error().kind == Kind::unreachable;
        if ((!why_not && !away) || (why_not && why_not->empty())) {
            terminal.end_progress();
            if (!why_not) return tl::unexpected(why_not.error());
            return {};
        }
        const std::string why = away ? "cgpud: it does not answer" : *why_not;
        terminal.progress(why);
        if (Clock::now() >= give_up) {
            terminal.end_progress();
            return client::fail(Kind::failed, why + ", after " + std::to_string(awaited.seconds) +
                                                  " s; the change stays. Try: " + awaited.remedy + ".");
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace cgpu::cgpuctl
