#include <optional>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_default_memory(const Input& input, client::Node& node, Terminal& terminal) {
    std::optional<std::uint64_t> bytes;
    if (input.memory != "configured") {
        const auto size = input.memory == "0" ? model::Bytes{} : read_size("default memory", input.memory);
        if (!size) return tl::unexpected(size.error());
        bytes = size->count();
    }
    if (auto done = node.set_default_memory(bytes, input.dry_run); !done) return done;
    terminal.done(
        (bytes ? "Default memory " + size_text(*bytes) : std::string("The configuration's default memory")) +
        (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
