#include "client/cgpuctl/format.hpp"
#include "client/cgpuctl/values.hpp"
#include "client/cgpuctl/verbs.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_memory(const Input& input, client::Node& node, Terminal& terminal) {
    const auto size = read_size("memory limit", input.memory);
    if (!size) return tl::unexpected(size.error());
    auto done = node.set_memory(input.instance, input.gpu, size->count(), input.force, input.dry_run);
    if (!done) return done;
    terminal.done("Instance " + input.instance + ": memory limit " + size_text(size->count()) +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
