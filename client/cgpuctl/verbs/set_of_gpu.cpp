// set-policy, set-max-inst and set-prio-ratio: settings of a whole GPU.
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Reports that `figure` was set, if it was.
client::Result<void> say(const client::Result<void>& done, const Input& input, const std::string& figure,
                         Terminal& terminal) {
    if (!done) return done;
    terminal.done("GPU " + input.gpu + ": " + figure +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace

client::Result<void> set_policy(const Input& input, client::Node& node, Terminal& terminal) {
    const auto policy = model::parse_policy(input.policy);
    if (!policy)
        return client::fail(client::ClientError::Kind::usage, "policy " + model::quote(input.policy) + ": " +
                                                                  policy.error() +
                                                                  ". Try: cgpuctl set-policy 0 weighted.");
    return say(node.set_policy(input.gpu, input.policy, input.dry_run), input,
               "policy " + std::string(model::to_string(*policy)), terminal);
}

client::Result<void> set_max_inst(const Input& input, client::Node& node, Terminal& terminal) {
    const auto max_inst = read_count("max_inst", input.max_inst);
    if (!max_inst) return tl::unexpected(max_inst.error());
    return say(node.set_max_inst(input.gpu, *max_inst, input.dry_run), input, "max_inst " + input.max_inst,
               terminal);
}

client::Result<void> set_prio_ratio(const Input& input, client::Node& node, Terminal& terminal) {
    const auto per_cent = read_count("prio_ratio", input.prio_ratio);
    if (!per_cent) return tl::unexpected(per_cent.error());
    return say(node.set_prio_ratio(input.gpu, *per_cent, input.dry_run), input,
               "prio_ratio " + input.prio_ratio, terminal);
}

}  // namespace cgpu::cgpuctl
