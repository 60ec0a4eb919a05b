#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/verbs.hpp"
#include "client/cgpuctl/verbs/say_set.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal) {
    const auto weight = read_count("weight", input.weight);
    if (!weight) return tl::unexpected(weight.error());
    const auto kept_for = node.set_weight(input.instance, input.gpu, *weight, setting_of(input));
    if (!kept_for) return tl::unexpected(kept_for.error());
    say_set(input, "weight " + input.weight, "weight", *weight, *kept_for, terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
