#include "client/cgpuctl/jobs/job_wait.hpp"

#include <chrono>
#include <csignal>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/held_signals.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Clock = std::chrono::steady_clock;
using Kind = client::ClientError::Kind;
using Woke = client::JobWatch::Woke;

/// A restarted daemon is back within this time.
constexpr std::chrono::seconds kAwayAtMost{30};
/// The bus announces a daemon that comes back, but not one that merely continues.
constexpr std::chrono::milliseconds kLookWhileAway{1000};

/// The job's object was replaced by the next job's, after its end was signalled.
client::Job ended_unseen(const std::optional<client::Job>& last_seen, const std::string& result) {
    client::Job job = last_seen.value_or(client::Job());
    job.state = "ended";
    job.result = result;
    job.message = "The next job has taken its place.";
    return job;
}

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
    const HeldSignals interrupts{SIGINT, SIGTERM};
    const auto watch = node.watch_job(path);
    if (!watch) return tl::unexpected(watch.error());
    std::optional<Clock::time_point> away_since;
    std::optional<client::Job> last_seen;
    bool cancelled = false;
    for (;;) {
        auto job = node.read_job(path);
        const bool away = !job && job.error().kind == Kind::unreachable;
        if (!job && job.error().kind == Kind::not_found && (*watch)->result())
            job = ended_unseen(last_seen, *(*watch)->result());
        if (!away) away_since.reset();
        if (away && !away_since) away_since = Clock::now();
        if (job && !job->ended()) terminal.progress(progress_text(*job));
        if (away) terminal.progress("cgpud does not answer; it is waited for");
        const bool too_long = away && Clock::now() - *away_since >= kAwayAtMost;
        if ((job && job->ended()) || (!job && !away) || too_long) {
            terminal.end_progress();
            return job;
        }
        if (job) last_seen = *job;
        const auto woke =
            (*watch)->wait(interrupts.fd(), away ? std::optional(kLookWhileAway) : std::nullopt);
        if (woke != Woke::interrupted || !interrupts.take()) continue;
        terminal.end_progress();
        if (cancelled)
            return client::fail(
                Kind::failed,
                "cgpuctl: interrupted; the job is rolled back in the background. Try: cgpuctl status.");
        cancelled = true;
        if (const auto done = node.cancel_job(path); !done)
            terminal.warning(done.error().text);
        else
            terminal.warning("interrupted: it is cancelled, and goes back");
    }
}

}  // namespace cgpu::cgpuctl
