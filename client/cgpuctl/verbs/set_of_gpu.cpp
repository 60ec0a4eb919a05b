// set-policy, set-max-inst and set-prio-ratio: settings of a whole GPU.
#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Makes the change, and reports that it was made.
client::Result<void> set(const client::Result<Wanted>& wanted, const Input& input, client::Node& node,
                         Terminal& terminal) {
    if (!wanted) return tl::unexpected(wanted.error());
    if (const auto made = make(wanted->changes, input, node); !made) return tl::unexpected(made.error());
    terminal.done("GPU " + printable(input.gpu) + ": " + wanted->figure +
                  (input.dry_run   ? " could be set; nothing was changed."
                   : input.runtime ? " is set, until the reboot."
                                   : " is set."));
    return {};
}

}  // namespace

client::Result<void> set_policy(const Input& input, client::Node& node, Terminal& terminal) {
    return set(wanted_policy(input), input, node, terminal);
}

client::Result<void> set_max_inst(const Input& input, client::Node& node, Terminal& terminal) {
    return set(wanted_max_inst(input), input, node, terminal);
}

client::Result<void> set_prio_ratio(const Input& input, client::Node& node, Terminal& terminal) {
    return set(wanted_prio_ratio(input), input, node, terminal);
}

}  // namespace cgpu::cgpuctl
