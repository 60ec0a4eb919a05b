#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/jobs/verbs.hpp"
#include "core/model/quote.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<client::Upgrade> wanted(const UpgradeInput& input) {
    if (input.hot.empty() == input.cold.empty())
        return client::fail(Kind::usage,
                            "cgpuctl upgrade: it takes either --hot VERSION or --cold VERSION. Try: "
                            "cgpuctl upgrade --hot 1.2.3.");
    if (input.drain && input.cold.empty())
        return client::fail(Kind::usage,
                            "--drain: only a cold upgrade waits for instances to end. Try: cgpuctl upgrade "
                            "--cold VERSION --drain.");
    client::Upgrade upgrade;
    upgrade.hot = !input.hot.empty();
    upgrade.version = upgrade.hot ? input.hot : input.cold;
    if (!upgrade::Version::parse(upgrade.version))
        return client::fail(Kind::usage, model::quote(upgrade.version) +
                                             ": it is no version, which has three numbers of 0 to 255. Try: "
                                             "cgpuctl module list.");
    upgrade.drain = input.drain;
    upgrade.dry_run = input.dry_run;
    const auto timeout = read_timeout(input.timeout);
    if (!timeout) return tl::unexpected(timeout.error());
    upgrade.timeout_s = *timeout;
    return upgrade;
}

}  // namespace

Result<void> upgrade(const UpgradeInput& input, client::Node& node, Terminal& terminal) {
    if (input.cancel) return cancel_job_under_way(node, terminal);
    const auto asked = wanted(input);
    if (!asked) return tl::unexpected(asked.error());
    const auto path = node.begin_upgrade(*asked);
    if (!path) return tl::unexpected(path.error());
    if (input.dry_run) {
        terminal.done("upgrade to " + asked->version + ": it could be done; nothing was changed.");
        return {};
    }
    return follow_job(*path, input, node, terminal);
}

}  // namespace cgpu::cgpuctl
