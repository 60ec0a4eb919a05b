// set-memory, set-weight and set-priority: settings of instances, until they end or also for their next
// starts.
#include <algorithm>
#include <functional>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/jobs/wait_until.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

constexpr std::uint32_t kWaitForMemory = 60;  // seconds

client::Setting setting_of(const Input& input) { return {input.persist, input.force, input.dry_run}; }

/// A setting that is made for each of the instances that the command line names.
struct Change {
    std::string figure;  ///< `weight 4`
    const char* key;     ///< of the JSON
    Json value;
    /// Returns the name for whose next starts it is kept; empty: it isn't.
    std::function<client::Result<std::string>(const std::string& instance, const client::Setting& how)> set;
};

/// Reports that the change was made, if it was, and for how long.
void say(const Change& change, const std::string& instance, const std::string& kept_for, const Input& input,
         Terminal& terminal) {
    const std::string start = "Instance " + instance + ": " + change.figure;
    const std::string next = "for the next starts of " + printable(kept_for);
    const bool kept = !kept_for.empty();
    if (input.dry_run)
        terminal.done(start + " could be set" + (kept ? ", and kept " + next : "") +
                      "; nothing was changed.");
    else
        terminal.done(start +
                      (kept ? " is set, and kept " + next + "." : " is set, until the instance ends."));
}

Json change_json(const Change& change, const std::string& instance, const std::string& kept_for,
                 bool dry_run) {
    return {{"instance", instance},
            {change.key, change.value},
            {"kept", !kept_for.empty()},
            {"kept_for", kept_for.empty() ? Json() : Json(kept_for)},
            {"dry_run", dry_run}};
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// A refusal that came after other instances had been changed, or before any was.
tl::unexpected<ClientError> refused(ClientError error, const std::vector<std::string>& changed,
                                    bool several) {
    if (several) {
        const auto remedy = error.text.find(". Try: ");
        const std::string said = changed.empty() ? "; none of the instances was changed"
                                                 : "; " + list_of(changed) + " had been changed before";
        error.text.insert(std::min(remedy, error.text.size()), said);
    }
    return tl::unexpected(std::move(error));
}

/// Several instances are checked before the first one is changed. Nothing is undone: a refusal that comes
/// after that says which were changed.
client::Result<void> make(const Change& change, const Input& input, Terminal& terminal) {
    const bool several = input.instances.size() > 1;
    client::Setting how = setting_of(input);
    if (several && !input.dry_run) {
        how.dry_run = true;
        for (const std::string& instance : input.instances)
            if (const auto could = change.set(instance, how); !could)
                return refused(could.error(), {}, several);
        how.dry_run = false;
    }
    std::vector<std::string> changed;
    Json list = Json::array();
    for (const std::string& instance : input.instances) {
        const auto kept_for = change.set(instance, how);
        if (!kept_for) return refused(kept_for.error(), changed, several);
        if (!input.dry_run) changed.push_back(instance);
        if (input.json)
            list.push_back(change_json(change, instance, *kept_for, input.dry_run));
        else
            say(change, instance, *kept_for, input, terminal);
    }
    if (input.json) terminal.out() << to_text(several ? list : list.front());
    return {};
}

/// `instance web: it holds 3000MiB, and its limit is 2048MiB`, of the first instance that does; empty: none.
client::Result<std::string> who_holds_more(const std::vector<std::string>& ids, const std::string& gpu,
                                           client::Node& node) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    for (const client::Instance& instance : snapshot->instances) {
        if (std::ranges::find(ids, instance.id) == ids.end()) continue;
        for (const client::OnGpu& place : instance.gpus) {
            const bool meant = gpu.empty() || place.quota.gpu == gpu;
            if (meant && place.usage.memory_used > place.quota.memory_limit)
                return "instance " +
                       printable(instance.name.empty() ? short_id(instance.id) : instance.name) +
                       ": it holds " + size_text(place.usage.memory_used) + ", and its limit is " +
                       size_text(place.quota.memory_limit);
        }
    }
    return std::string();
}

/// An instance that has ended holds nothing.
client::Result<void> wait_for_memory(const std::vector<std::string>& ids, std::uint32_t seconds,
                                     const Input& input, client::Node& node, Terminal& terminal) {
    std::string uuid;
    if (!input.gpu.empty()) {
        const auto found = node.find_gpu(input.gpu);
        if (!found) return tl::unexpected(found.error());
        uuid = *found;
    }
    return wait_until({[&] { return who_holds_more(ids, uuid, node); }, seconds,
                       "let it free memory, or cgpuctl revert INSTANCE"},
                      terminal);
}

}  // namespace

client::Result<void> set_memory(const Input& input, client::Node& node, Terminal& terminal) {
    const auto size = read_size("memory limit", input.memory);
    if (!size) return tl::unexpected(size.error());
    if (!input.timeout.empty() && !input.wait)
        return client::fail(ClientError::Kind::usage,
                            "--timeout: it is how long --wait waits. Try: cgpuctl set-memory --help.");
    const auto timeout = read_timeout(input);
    if (!timeout) return tl::unexpected(timeout.error());
    // By id, because another instance may have the name when the first one has ended.
    std::vector<std::string> ids;
    for (const std::string& instance : input.wait ? input.instances : std::vector<std::string>()) {
        const auto id = node.find_instance(instance);
        if (!id) return tl::unexpected(id.error());
        ids.push_back(*id);
    }
    auto done = make({"memory limit " + size_text(size->count()), "memory_limit_bytes", size->count(),
                      [&](const std::string& instance, const client::Setting& how) {
                          return node.set_memory(instance, input.gpu, size->count(), how);
                      }},
                     input, terminal);
    if (!done || !input.wait || input.dry_run) return done;
    return wait_for_memory(ids, timeout->value_or(kWaitForMemory), input, node, terminal);
}

client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal) {
    const auto weight = read_count("weight", input.weight);
    if (!weight) return tl::unexpected(weight.error());
    return make({"weight " + input.weight, "weight", *weight,
                 [&](const std::string& instance, const client::Setting& how) {
                     return node.set_weight(instance, input.gpu, *weight, how);
                 }},
                input, terminal);
}

client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal) {
    const std::string priority = model::lowered(input.priority);
    if (priority != "high" && priority != "normal")
        return client::fail(ClientError::Kind::usage, "priority " + model::quote(input.priority) +
                                                          ": there is no such. Try: high or normal.");
    const bool high = priority == "high";
    return make({priority + " priority", "high_priority", high,
                 [&](const std::string& instance, const client::Setting& how) {
                     return node.set_high_priority(instance, input.gpu, high, how);
                 }},
                input, terminal);
}

}  // namespace cgpu::cgpuctl
