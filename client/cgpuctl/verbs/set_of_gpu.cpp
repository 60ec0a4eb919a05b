// set-policy, set-max-inst and set-prio-ratio: settings of a whole GPU.
#include "client/cgpuctl/base/settings.hpp"
#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/gpu.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Reports that `figure` was set, if it was.
client::Result<void> say(const client::Result<void>& done, const Input& input, const std::string& figure,
                         Terminal& terminal) {
    if (!done) return done;
    terminal.done("GPU " + input.gpu + ": " + figure +
                  (input.dry_run   ? " could be set; nothing was changed."
                   : input.runtime ? " is set, until the reboot."
                                   : " is set."));
    return {};
}

/// Sets a figure that is a number in this range, read from `text`. `name`: what errors and the answer call
/// it.
client::Result<void> set_count(const char* name, const std::string& text, std::uint32_t least,
                               std::uint32_t most,
                               client::Result<void> (client::Node::*set)(const std::string& gpu,
                                                                         std::uint32_t value,
                                                                         const client::Setup& how),
                               const Input& input, client::Node& node, Terminal& terminal) {
    const auto value = read_count_in(name, text, least, most);
    if (!value) return tl::unexpected(value.error());
    const auto how = setup_of(input);
    if (!how) return tl::unexpected(how.error());
    return say((node.*set)(input.gpu, *value, *how), input, std::string(name) + " " + text, terminal);
}

}  // namespace

client::Result<void> set_policy(const Input& input, client::Node& node, Terminal& terminal) {
    const auto policy = model::parse_policy(input.policy);
    if (!policy) {
        const auto likely = model::likely_policy(input.policy);
        return client::fail(client::ClientError::Kind::usage,
                            "policy " + model::quote(input.policy) + ": " + policy.error() +
                                ". Try: cgpuctl set-policy " + printable(input.gpu) + " " +
                                std::string(likely.empty() ? "weighted" : likely) + ".");
    }
    const auto how = setup_of(input);
    if (!how) return tl::unexpected(how.error());
    return say(node.set_policy(input.gpu, input.policy, *how), input,
               "policy " + std::string(model::to_string(*policy)), terminal);
}

client::Result<void> set_max_inst(const Input& input, client::Node& node, Terminal& terminal) {
    return set_count("max_inst", input.max_inst, model::kMinMaxInst, model::kMaxMaxInst,
                     &client::Node::set_max_inst, input, node, terminal);
}

client::Result<void> set_prio_ratio(const Input& input, client::Node& node, Terminal& terminal) {
    return set_count("prio_ratio", input.prio_ratio, model::kMinPrioRatio, model::kMaxPrioRatio,
                     &client::Node::set_prio_ratio, input, node, terminal);
}

}  // namespace cgpu::cgpuctl
