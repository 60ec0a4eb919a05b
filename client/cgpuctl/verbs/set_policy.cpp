#include "client/cgpuctl/verbs.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_policy(const Input& input, client::Node& node, Terminal& terminal) {
    const auto policy = model::parse_policy(input.policy);
    if (!policy)
        return client::fail(client::ClientError::Kind::usage, "policy " + model::quote(input.policy) + ": " +
                                                                  policy.error() +
                                                                  ". Try: cgpuctl set-policy 0 weighted.");
    auto done = node.set_policy(input.gpu, input.policy, input.dry_run);
    if (!done) return done;
    terminal.done("GPU " + input.gpu + ": policy " + std::string(model::to_string(*policy)) +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
