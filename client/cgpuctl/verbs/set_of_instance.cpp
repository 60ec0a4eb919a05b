// set-memory, set-weight and set-priority: settings of one instance, until it ends or also for its next
// starts.
#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

client::Setting setting_of(const Input& input) { return {input.persist, input.force, input.dry_run}; }

/// Reports that `figure` was set, if it was, and for how long. `kept_for` is the name whose next starts get
/// it, too; empty: it isn't kept. With --json it prints an object: `key` with `value`, and the other fields.
client::Result<void> say(const client::Result<std::string>& kept_for, const Input& input,
                         const std::string& figure, const char* key, const Json& value, Terminal& terminal) {
    if (!kept_for) return tl::unexpected(kept_for.error());
    const bool kept = !kept_for->empty();
    if (input.json) {
        terminal.out() << to_text({{"instance", input.instance},
                                   {key, value},
                                   {"kept", kept},
                                   {"kept_for", kept ? Json(*kept_for) : Json()},
                                   {"dry_run", input.dry_run}});
        return {};
    }
    const std::string start = "Instance " + input.instance + ": " + figure;
    const std::string next = "for the next starts of " + printable(*kept_for);
    if (input.dry_run)
        terminal.done(start + " could be set" + (kept ? ", and kept " + next : "") +
                      "; nothing was changed.");
    else
        terminal.done(start +
                      (kept ? " is set, and kept " + next + "." : " is set, until the instance ends."));
    return {};
}

}  // namespace

client::Result<void> set_memory(const Input& input, client::Node& node, Terminal& terminal) {
    const auto size = read_size("memory limit", input.memory);
    if (!size) return tl::unexpected(size.error());
    return say(node.set_memory(input.instance, input.gpu, size->count(), setting_of(input)), input,
               "memory limit " + size_text(size->count()), "memory_limit_bytes", size->count(), terminal);
}

client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal) {
    const auto weight = read_count("weight", input.weight);
    if (!weight) return tl::unexpected(weight.error());
    return say(node.set_weight(input.instance, input.gpu, *weight, setting_of(input)), input,
               "weight " + input.weight, "weight", *weight, terminal);
}

client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal) {
    if (input.priority != "high" && input.priority != "normal")
        return client::fail(client::ClientError::Kind::usage, "priority " + model::quote(input.priority) +
                                                                  ": there is no such. Try: high or normal.");
    const bool high = input.priority == "high";
    return say(node.set_high_priority(input.instance, input.gpu, high, setting_of(input)), input,
               input.priority + " priority", "high_priority", high, terminal);
}

}  // namespace cgpu::cgpuctl
