#include <algorithm>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

client::Result<void> report(const client::Result<void>& done, const Input& input, const std::string& what,
                            Terminal& terminal) {
    if (!done) return done;
    terminal.done(what + (input.dry_run ? ": the configuration could be put in force; nothing was changed."
                                        : ": the configuration is in force."));
    return {};
}

/// The mode of the node changes as a job, which another verb starts and follows.
client::Result<void> point_to_set_mode(client::Node& node) {
    const auto values = node.configuration();
    if (!values) return tl::unexpected(values.error());
    const auto mode = std::ranges::find(*values, "mode", &client::ConfigurationValue::key);
    if (mode == values->end() || mode->configured.empty()) return {};
    return client::fail(ClientError::Kind::usage, "mode: it is " + mode->value +
                                                      ", and the configuration says " + mode->configured +
                                                      ". Try: " + mode->remedy + ".");
}

}  // namespace

client::Result<void> revert(const Input& input, client::Node& node, Terminal& terminal) {
    const std::string& what = input.target;
    if (what == "default-memory")
        return report(node.set_default_memory(std::nullopt, input.dry_run), input, "Default memory",
                      terminal);
    if (what == "mode") return report(point_to_set_mode(node), input, "Mode", terminal);
    auto done = node.revert_gpu(what, input.dry_run);
    if (!done && done.error().kind == ClientError::Kind::not_found && node.find_instance(what))
        return client::fail(
            ClientError::Kind::usage,
            printable(what) +
                ": what was set for an instance holds until it ends, and what is kept for its "
                "next starts until it is forgotten. Try: cgpuctl forget " +
                printable(what) + ".");
    return report(done, input, "GPU " + printable(what), terminal);
}

}  // namespace cgpu::cgpuctl
