#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs/changing.hpp"
#include "core/model/owner.hpp"

namespace cgpu::cgpuctl {

client::Result<void> forget(const ForgetInput& input, client::Node& node, Terminal& terminal) {
    std::optional<std::uint32_t> owner;
    if (!input.owner.empty()) {
        const auto id = read_count_in("owner", input.owner, 0, model::kNobody - 1);
        if (!id) return tl::unexpected(id.error());
        owner = *id;
    }
    const auto how = making_of(input);
    if (!how) return tl::unexpected(how.error());
    auto done = node.forget(input.name, owner, *how);
    if (!done) return done;
    terminal.done(printable(input.name) +
                  (input.dry_run ? ": what is kept could be forgotten; nothing was changed."
                                 : ": what was kept is forgotten; its next start gets what it asks for."));
    return {};
}

}  // namespace cgpu::cgpuctl
