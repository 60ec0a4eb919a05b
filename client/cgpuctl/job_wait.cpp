#include "client/cgpuctl/job_wait.hpp"

#include <csignal>
#include <ctime>

#include "client/cgpuctl/format.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr long kLookEvery = 100'000'000;  // ns
/// A daemon that is restarted is back within this.
constexpr int kMostLooksInVain = 300;

/// While it lives, SIGINT and SIGTERM come only to came().
class HeldInterrupts {
  public:
    HeldInterrupts() {
        sigemptyset(&held_);
        sigaddset(&held_, SIGINT);
        sigaddset(&held_, SIGTERM);
        sigprocmask(SIG_BLOCK, &held_, &before_);
    }
    ~HeldInterrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    HeldInterrupts(const HeldInterrupts&) = delete;
    HeldInterrupts& operator=(const HeldInterrupts&) = delete;

    /// Waits for one as long as a look is apart from the next.
    [[nodiscard]] bool came() const {
        const timespec pause{0, kLookEvery};
        return sigtimedwait(&held_, nullptr, &pause) > 0;
    }

  private:
    sigset_t held_{};
    sigset_t before_{};
};

}  // namespace

std::string title_of(const client::Job& job) {
    return (job.kind == "mode" ? "switch " : "upgrade ") + std::to_string(job.id) + " (" + job.kind + ", " +
           job.from + " to " + job.target + ")";
}

std::string progress_text(const client::Job& job) {
    std::string text =
        title_of(job) + ": " + job.state + ", " + std::to_string(job.done) + " of " + std::to_string(job.all);
    return job.message.empty() ? text : text + "; " + printable(job.message);
}

Result<client::Job> wait_for_job(const std::string& path, client::Node& node, Terminal& terminal) {
    const HeldInterrupts interrupts;
    int in_vain = 0;
    bool cancelled = false;
    for (;;) {
        auto job = node.read_job(path);
        const bool away = !job && job.error().kind == Kind::unreachable;
        in_vain = away ? in_vain + 1 : 0;
        if (job && !job->ended()) terminal.progress(progress_text(*job));
        if (away) terminal.progress("cgpud does not answer; it is waited for");
        if ((job && job->ended()) || (!job && !away) || in_vain > kMostLooksInVain) {
            terminal.end_progress();
            return job;
        }
        if (!interrupts.came()) continue;
        terminal.end_progress();
        if (cancelled)
            return client::fail(Kind::failed,
                                "cgpuctl: interrupted; the job goes back without anybody watching. Try: "
                                "cgpuctl status.");
        cancelled = true;
        if (const auto done = node.cancel_job(path); !done)
            terminal.warning(done.error().text);
        else
            terminal.warning("interrupted: it is cancelled, and goes back");
    }
}

}  // namespace cgpu::cgpuctl
