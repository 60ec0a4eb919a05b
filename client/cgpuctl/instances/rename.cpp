// rename: another name for a job or a reservation.
#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"

namespace cgpu::cgpuctl {

client::Result<void> rename_verb(const RenameInput& input, client::Node& node, Terminal& terminal) {
    const auto how = making_of(input);
    if (!how) return tl::unexpected(how.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto meant = instance_meant(*snapshot, input.instance, said_to_change(input), node);
    if (!meant) return tl::unexpected(meant.error());
    const client::Instance& instance = **meant;
    if (auto renamed = node.rename(instance.id, input.name, *how); !renamed) return renamed;
    if (input.json)
        terminal.out() << to_text(Json{{"instance", instance.id},
                                       {"before", instance.name},
                                       {"name", input.name},
                                       {"dry_run", how->dry_run}});
    else
        terminal.done(shown_name(instance.name, instance.id) +
                      (how->dry_run ? ": it could be called " : ": it is called ") + printable(input.name) +
                      (how->dry_run ? "; nothing was changed." : " now."));
    return {};
}

}  // namespace cgpu::cgpuctl
