#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_max_inst(const Input& input, client::Node& node, Terminal& terminal) {
    const auto max_inst = read_count("max_inst", input.max_inst);
    if (!max_inst) return tl::unexpected(max_inst.error());
    auto done = node.set_max_inst(input.gpu, *max_inst, input.dry_run);
    if (!done) return done;
    terminal.done("GPU " + input.gpu + ": max_inst " + input.max_inst +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
