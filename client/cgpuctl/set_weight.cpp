#include "client/cgpuctl/values.hpp"
#include "client/cgpuctl/verbs.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal) {
    const auto weight = read_count("weight", input.weight);
    if (!weight) return tl::unexpected(weight.error());
    auto done = node.set_weight(input.instance, input.gpu, *weight, input.dry_run);
    if (!done) return done;
    terminal.done("Instance " + input.instance + ": weight " + input.weight +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
