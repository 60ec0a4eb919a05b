#include "client/cgpuctl/format.hpp"
#include "client/cgpuctl/json.hpp"
#include "client/cgpuctl/upgrade_wait.hpp"
#include "client/cgpuctl/values.hpp"
#include "client/cgpuctl/verbs.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr const char* kJobFolder = "/org/cgpu1/job/";

Result<client::Upgrade> wanted(const Input& input) {
    if (input.hot.empty() == input.cold.empty())
        return client::fail(Kind::usage,
                            "cgpuctl upgrade: it takes either --hot VERSION or --cold VERSION. Try: "
                            "cgpuctl upgrade --hot 1.2.3.");
    if (input.drain && input.cold.empty())
        return client::fail(Kind::usage,
                            "--drain: a hot upgrade waits for no instance to end. Try: it with --cold.");
    client::Upgrade upgrade;
    upgrade.hot = !input.hot.empty();
    upgrade.version = upgrade.hot ? input.hot : input.cold;
    upgrade.drain = input.drain;
    upgrade.dry_run = input.dry_run;
    if (!input.timeout.empty()) {
        const auto seconds = read_count("timeout", input.timeout);
        if (!seconds) return tl::unexpected(seconds.error());
        upgrade.timeout_s = *seconds;
    }
    return upgrade;
}

std::string title(const client::Job& job) {
    return "upgrade " + std::to_string(job.id) + " (" + job.kind + ", " + job.from + " to " + job.target +
           ")";
}

/// What became of it; an error where it is not what was wanted.
Result<void> report(const client::Job& job, bool json, Terminal& terminal) {
    if (json) terminal.out() << to_text(to_json(job));
    if (job.result != "done")
        return client::fail(Kind::failed, title(job) + ": " + job.result + ". " + printable(job.message) +
                                              " Try: journalctl -u cgpud tells all of it.");
    if (!json) terminal.done(title(job) + ": done. " + printable(job.message));
    return {};
}

Result<void> cancel(client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    if (!snapshot->job || snapshot->job->ended())
        return client::fail(Kind::not_found, "cgpuctl upgrade: none is under way. Try: cgpuctl status.");
    const auto path = kJobFolder + std::to_string(snapshot->job->id);
    if (auto cancelled = node.cancel_job(path); !cancelled) return cancelled;
    const auto job = wait_for_job(path, node, terminal);
    if (!job) return tl::unexpected(job.error());
    if (job->result == "done")
        return client::fail(Kind::failed, title(*job) + ": it was done before it could be cancelled. Try: " +
                                              "cgpuctl upgrade to " + job->from + ".");
    terminal.done(title(*job) + ": " + job->result + ". " + printable(job->message));
    return {};
}

}  // namespace

Result<void> upgrade(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.cancel) return cancel(node, terminal);
    const auto asked = wanted(input);
    if (!asked) return tl::unexpected(asked.error());
    const auto path = node.begin_upgrade(*asked);
    if (!path) return tl::unexpected(path.error());
    if (input.dry_run) {
        terminal.done("upgrade to " + asked->version + ": it could be done; nothing was changed.");
        return {};
    }
    if (!input.no_wait) {
        const auto job = wait_for_job(*path, node, terminal);
        if (!job) return tl::unexpected(job.error());
        return report(*job, input.json, terminal);
    }
    const auto job = node.read_job(*path);
    if (!job) return tl::unexpected(job.error());
    if (input.json)
        terminal.out() << to_text(to_json(*job));
    else
        terminal.done(title(*job) + ": begun. cgpuctl status says how far it is.");
    return {};
}

}  // namespace cgpu::cgpuctl
