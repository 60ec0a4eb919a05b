#include "client/cgpuctl/jobs/job_follow.hpp"

#include "client/cgpuctl/jobs/job_wait.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "dbus/names.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<void> report(const client::Job& job, bool json, Terminal& terminal) {
    if (json) terminal.out() << to_text(to_json(job));
    if (job.result != "done")
        return client::fail(Kind::failed, title_of(job) + ": " + job.result + ". " + printable(job.message) +
                                              " Try: journalctl -u cgpud.");
    if (!json) terminal.done(title_of(job) + ": done. " + printable(job.message));
    return {};
}

}  // namespace

Result<std::optional<std::uint32_t>> read_timeout(const std::string& timeout) {
    if (timeout.empty()) return std::nullopt;
    return read_count("timeout", timeout).map([](std::uint32_t s) { return std::optional(s); });
}

Result<void> follow_job(const std::string& path, const JobInput& input, client::Node& node,
                        Terminal& terminal) {
    if (!input.no_wait) {
        const auto job = wait_for_job(path, node, terminal);
        if (!job) return tl::unexpected(job.error());
        return report(*job, input.json, terminal);
    }
    const auto job = node.read_job(path);
    if (!job) return tl::unexpected(job.error());
    if (input.json)
        terminal.out() << to_text(to_json(*job));
    else
        terminal.done(title_of(*job) + ": begun. cgpuctl status says how far it is.");
    return {};
}

Result<void> cancel_job_under_way(client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    if (!snapshot->job || snapshot->job->ended())
        return client::fail(Kind::not_found, "cgpuctl: no job is under way. Try: cgpuctl status.");
    const auto path = std::string(bus_names::kJobs) + "/" + std::to_string(snapshot->job->id);
    if (auto cancelled = node.cancel_job(path); !cancelled) return cancelled;
    const auto job = wait_for_job(path, node, terminal);
    if (!job) return tl::unexpected(job.error());
    if (job->result == "done")
        return client::fail(Kind::failed, title_of(*job) +
                                              ": it was done before it could be cancelled. Try: " +
                                              "start another one, to " + job->from + ".");
    terminal.done(title_of(*job) + ": " + job->result + ". " + printable(job->message));
    return {};
}

}  // namespace cgpu::cgpuctl
