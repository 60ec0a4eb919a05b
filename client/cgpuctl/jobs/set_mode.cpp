#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/output/warnings.hpp"
#include "core/model/mode.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

/// Warns about GPUs that the node's mode has not reached; if their state can't be read, the switch has not
/// failed.
void warn_of_others(client::Node& node, Terminal& terminal) {
    if (const auto snapshot = node.read())
        for (const auto& warning : mode_warnings(*snapshot)) terminal.warning(warning);
}

}  // namespace

Result<void> set_mode(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.cancel == !input.mode.empty())
        return client::fail(
            Kind::usage, "cgpuctl set-mode: it takes either a mode or --cancel. Try: cgpuctl set-mode none.");
    if (input.cancel) return cancel_job_under_way(node, terminal);
    if (const auto mode = model::parse_mode(input.mode); !mode)
        return client::fail(Kind::usage, "mode " + model::quote(input.mode) + ": " + mode.error() +
                                             ". Try: cgpuctl set-mode --help.");
    const auto timeout = read_timeout(input);
    if (!timeout) return tl::unexpected(timeout.error());
    const auto path = node.begin_mode({input.mode, input.drain, *timeout, input.dry_run});
    if (!path) return tl::unexpected(path.error());
    if (input.dry_run) {
        terminal.done("mode " + input.mode + " could be set; nothing was changed.");
        return {};
    }
    auto done = follow_job(*path, input, node, terminal);
    if (done && !input.no_wait && !input.quiet) warn_of_others(node, terminal);
    return done;
}

}  // namespace cgpu::cgpuctl
