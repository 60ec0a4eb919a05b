#include "client/cgpuctl/verbs.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {

client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.priority != "high" && input.priority != "normal")
        return client::fail(client::ClientError::Kind::usage, "priority " + model::quote(input.priority) +
                                                                  ": there is no such. Try: high or normal.");
    auto done = node.set_high_priority(input.instance, input.gpu, input.priority == "high", input.dry_run);
    if (!done) return done;
    terminal.done("Instance " + input.instance + ": " + input.priority + " priority" +
                  (input.dry_run ? " could be set; nothing was changed." : " is set."));
    return {};
}

}  // namespace cgpu::cgpuctl
