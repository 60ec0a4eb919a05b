#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs.hpp"
#include "client/cgpuctl/verbs/say_set.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_memory(const Input& input, client::Node& node, Terminal& terminal) {
    const auto size = read_size("memory limit", input.memory);
    if (!size) return tl::unexpected(size.error());
    const auto kept_for = node.set_memory(input.instance, input.gpu, size->count(), setting_of(input));
    if (!kept_for) return tl::unexpected(kept_for.error());
    say_set(input, "memory limit " + size_text(size->count()), "memory_limit_bytes", size->count(), *kept_for,
            terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
