#include "client/cgpuctl/verbs.hpp"
#include "client/cgpuctl/verbs/say_set.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.priority != "high" && input.priority != "normal")
        return client::fail(client::ClientError::Kind::usage, "priority " + model::quote(input.priority) +
                                                                  ": there is no such. Try: high or normal.");
    const bool high = input.priority == "high";
    const auto kept_for = node.set_high_priority(input.instance, input.gpu, high, setting_of(input));
    if (!kept_for) return tl::unexpected(kept_for.error());
    say_set(input, input.priority + " priority", "high_priority", high, *kept_for, terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
