#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/jobs/verbs.hpp"
#include "client/cgpuctl/jobs/wait_until.hpp"
#include "client/cgpuctl/output/warnings.hpp"
#include "core/model/mode.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr const char* kConfigured = "configured";
constexpr std::uint32_t kWaitForGpus = 600;  // seconds

/// Warns about GPUs that the node's mode has not reached; if their state can't be read, the switch has not
/// failed.
void warn_of_others(client::Node& node, Terminal& terminal) {
    if (const auto snapshot = node.read())
        for (const auto& warning : mode_warnings(*snapshot)) terminal.warning(warning);
}

/// Until no GPU serves another mode.
Result<void> wait_for_gpus(std::uint32_t seconds, client::Node& node, Terminal& terminal) {
    const auto why_not = [&]() -> Result<std::string> {
        const auto snapshot = node.read();
        if (!snapshot) return tl::unexpected(snapshot.error());
        if (!snapshot->mode_is_switched()) return std::string();
        for (const client::Gpu& gpu : snapshot->gpus)
            if (gpu.present && gpu.mode != snapshot->mode)
                return "GPU " + std::to_string(gpu.index) + ": its instances have mode " + gpu.mode +
                       " until they end";
        return std::string();
    };
    return wait_until({why_not, seconds, "end them, or cgpuctl set-mode configured"}, terminal);
}

Result<void> check_usage(const SetModeInput& input) {
    if (input.cancel == !input.mode.empty())
        return client::fail(
            Kind::usage, "cgpuctl set-mode: it takes either a mode or --cancel. Try: cgpuctl set-mode none.");
    if (input.wait && input.no_wait)
        return client::fail(Kind::usage,
                            "--wait, --no-wait: they exclude each other. Try: cgpuctl set-mode --help.");
    if (input.cancel || input.mode == kConfigured) return {};
    if (const auto mode = model::parse_mode(input.mode); !mode)
        return client::fail(Kind::usage, "mode " + model::quote(input.mode) + ": " + mode.error() +
                                             ". Try: cgpuctl set-mode --help.");
    return {};
}

}  // namespace

Result<void> set_mode(const SetModeInput& input, client::Node& node, Terminal& terminal) {
    if (auto checked = check_usage(input); !checked) return checked;
    if (input.cancel) return cancel_job_under_way(node, terminal);
    const auto timeout = read_timeout(input.timeout);
    if (!timeout) return tl::unexpected(timeout.error());
    const auto path = node.begin_mode({input.mode, input.drain, *timeout, input.dry_run, input.runtime});
    if (!path) return tl::unexpected(path.error());
    if (input.dry_run) {
        terminal.done(
            (input.mode == kConfigured ? std::string("the configured mode") : "mode " + input.mode) +
            " could be set; nothing was changed.");
        return {};
    }
    auto done = follow_job(*path, input, node, terminal);
    if (done && input.wait) return wait_for_gpus(timeout->value_or(kWaitForGpus), node, terminal);
    if (done && !input.no_wait && !input.quiet) warn_of_others(node, terminal);
    return done;
}

}  // namespace cgpu::cgpuctl
