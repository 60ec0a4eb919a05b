#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_prio_ratio(const Input& input, client::Node& node, Terminal& terminal) {
    const auto per_cent = read_count("prio_ratio", input.prio_ratio);
    if (!per_cent) return tl::unexpected(per_cent.error());
    auto done = node.set_prio_ratio(input.gpu, *per_cent, input.dry_run);
    if (!done) return done;
    terminal.done("GPU " + input.gpu + ": prio_ratio " + input.prio_ratio +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
