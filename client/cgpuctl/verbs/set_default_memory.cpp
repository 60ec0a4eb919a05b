#include <optional>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs/changing.hpp"

namespace cgpu::cgpuctl {

using client::ClientError;

client::Result<void> set_default_memory(const DefaultMemoryInput& input, client::Node& node,
                                        Terminal& terminal) {
    std::optional<std::uint64_t> bytes;
    if (input.memory == "configured" && input.runtime)
        return client::fail(
            ClientError::Kind::usage,
            "--runtime: the configuration's default memory holds until another one is set. Try: "
            "cgpuctl set-default-memory configured.");
    if (input.memory != "configured") {
        const auto size = input.memory == "0" ? model::Bytes{} : read_size("default memory", input.memory);
        if (!size) return tl::unexpected(size.error());
        bytes = size->count();
    }
    const auto how = making_of(input);
    if (!how) return tl::unexpected(how.error());
    if (auto done = node.set_default_memory(bytes, *how); !done) return done;
    terminal.done(
        (bytes ? "Default memory " + size_text(*bytes) : std::string("The configuration's default memory")) +
        (input.dry_run   ? " could be set; nothing was changed."
         : input.runtime ? " is set, until the reboot."
                         : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
