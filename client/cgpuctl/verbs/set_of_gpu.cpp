// set-policy, set-max-inst, set-prio-ratio, drain and undrain: settings of a whole GPU.
#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/verbs/changing.hpp"
#include "core/model/reason_in.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Makes the change, and reports that it was made.
client::Result<void> set(const client::Result<Wanted>& wanted, const GpuSettingInput& input,
                         client::Node& node, Terminal& terminal) {
    if (!wanted) return tl::unexpected(wanted.error());
    if (const auto made = make(wanted->changes, input, node); !made) return tl::unexpected(made.error());
    terminal.done("GPU " + printable(input.gpu) + ": " + wanted->figure +
                  (input.dry_run   ? " could be set; nothing was changed."
                   : input.runtime ? " is set, until the reboot."
                                   : " is set."));
    return {};
}

/// Of one GPU, or of several: then all of them, or none.
client::Result<void> drain_or_not(const client::Result<Wanted>& wanted, const DrainInput& input,
                                  client::Node& node, Terminal& terminal) {
    if (!wanted) return tl::unexpected(wanted.error());
    std::vector<client::Change> changes;
    for (const client::Change& each : wanted->changes) {
        auto its = for_each_gpu(each, node);
        if (!its) return tl::unexpected(its.error());
        changes.insert(changes.end(), its->begin(), its->end());
    }
    if (auto made = make(changes, input, node); !made) {
        auto& text = made.error().text;
        if (changes.size() > 1) text.insert(model::reason_in(text).size(), "; none of the GPUs was changed");
        return tl::unexpected(std::move(made.error()));
    }
    const bool drained = wanted->value == true;
    Json list = Json::array();
    for (const client::Change& change : changes) {
        if (input.json)
            list.push_back({{"gpu", change.gpu}, {wanted->key, wanted->value}, {"dry_run", input.dry_run}});
        else
            terminal.done("GPU " + printable(change.gpu) +
                          (input.dry_run ? ": it could be " + wanted->figure + "; nothing was changed."
                           : drained     ? ": it is drained, and takes no new instance."
                                         : ": it takes instances again."));
    }
    if (input.json) terminal.out() << to_text(list.size() > 1 ? list : list.front());
    return {};
}

}  // namespace

client::Result<void> set_policy(const GpuSettingInput& input, client::Node& node, Terminal& terminal) {
    return set(wanted_policy(input), input, node, terminal);
}

client::Result<void> set_max_inst(const GpuSettingInput& input, client::Node& node, Terminal& terminal) {
    return set(wanted_max_inst(input), input, node, terminal);
}

client::Result<void> set_prio_ratio(const GpuSettingInput& input, client::Node& node, Terminal& terminal) {
    return set(wanted_prio_ratio(input), input, node, terminal);
}

client::Result<void> drain(const DrainInput& input, client::Node& node, Terminal& terminal) {
    return drain_or_not(wanted_drain(input), input, node, terminal);
}

client::Result<void> undrain(const DrainInput& input, client::Node& node, Terminal& terminal) {
    return drain_or_not(wanted_undrain(input), input, node, terminal);
}

}  // namespace cgpu::cgpuctl
