// set-memory, set-weight and set-priority: settings of instances, until they end or also for their next
// starts.
#include <algorithm>
#include <functional>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/base/settings.hpp"
#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/jobs/wait_until.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "core/model/gpu.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

constexpr std::uint32_t kWaitForMemory = 60;  // seconds

/// A setting that is made for each of the instances that the command line names.
struct Change {
    std::string figure;  ///< `weight 4`
    const char* key;     ///< of the JSON
    Json value;
    /// Makes it for one instance. Returns the name for whose next starts it is kept; empty: it isn't.
    std::function<client::Result<std::string>(const std::string& instance, const client::Setting& how)> set;
    /// Writes it into one of several changes that are made as one.
    std::function<void(client::Change& change)> write;
};

/// Reports that the change was made, if it was, and for how long.
void say(const Change& change, const std::string& instance, const std::string& kept_for, const Input& input,
         Terminal& terminal) {
    const std::string start = "Instance " + instance + ": " + change.figure;
    const std::string next = "for the next starts of " + shown_name(kept_for);
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

/// For whose next starts each of the instances would be kept, in their order.
client::Result<std::vector<std::string>> names_of(const std::vector<std::string>& instances,
                                                  client::Node& node) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    std::vector<std::string> names;
    for (const std::string& instance : instances) {
        const auto id = node.find_instance(instance);
        if (!id) return tl::unexpected(id.error());
        const auto its = std::ranges::find(snapshot->instances, *id, &client::Instance::id);
        names.push_back(its == snapshot->instances.end() ? std::string() : its->name);
    }
    return names;
}

/// For several instances, as one change: it is made for all of them, or for none. Returns for whose next
/// starts it is kept.
client::Result<std::vector<std::string>> make_for_all(const Change& change, const client::Setting& how,
                                                      const Input& input, client::Node& node) {
    auto kept_for = how.persist ? names_of(input.instances, node)
                                : client::Result<std::vector<std::string>>(input.instances.size());
    std::vector<client::Change> changes;
    for (const std::string& instance : input.instances) {
        changes.push_back({instance, input.gpu});
        change.write(changes.back());
    }
    std::optional<ClientError> refusal;
    if (!kept_for) {
        refusal = kept_for.error();
    } else if (const auto done = node.apply(changes, {how}); !done) {
        refusal = done.error();
        client::take_change_number(*refusal, changes.size());
    }
    if (!refusal) return kept_for;
    const auto remedy = std::min(refusal->text.find(". Try: "), refusal->text.size());
    refusal->text.insert(remedy, "; none of the instances was changed");
    return tl::unexpected(std::move(*refusal));
}

client::Result<void> make(const Change& change, const Input& input, client::Node& node, Terminal& terminal) {
    const auto how = setting_of(input);
    if (!how) return tl::unexpected(how.error());
    const bool several = input.instances.size() > 1;
    const auto kept_for = several ? make_for_all(change, *how, input, node)
                                  : change.set(input.instances.front(), *how).map([](std::string name) {
                                        return std::vector{std::move(name)};
                                    });
    if (!kept_for) return tl::unexpected(kept_for.error());
    Json list = Json::array();
    for (std::size_t each = 0; each < input.instances.size(); ++each) {
        if (input.json)
            list.push_back(change_json(change, input.instances[each], (*kept_for)[each], input.dry_run));
        else
            say(change, input.instances[each], (*kept_for)[each], input, terminal);
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
                return "instance " + shown_name(instance.name, instance.id) + ": it holds " +
                       size_text(place.usage.memory_used) + ", and its limit is " +
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

client::Result<void> set_percent(std::uint32_t percent, const Input& input, client::Node& node,
                                 Terminal& terminal) {
    const auto write = [percent](client::Change& one) { one.percent = percent; };
    return make({std::to_string(percent) + "% of the compute", "percentage", percent,
                 [&](const std::string& instance, const client::Setting& how) -> client::Result<std::string> {
                     client::Change change{instance, input.gpu};
                     write(change);
                     const auto done = node.apply({change}, {how});
                     if (done) return std::string();  // a percentage isn't kept
                     ClientError refusal = done.error();
                     client::take_change_number(refusal, 1);
                     return tl::unexpected(std::move(refusal));
                 },
                 write},
                input, node, terminal);
}

/// What high priority takes from an instance on a GPU; empty: nothing.
std::string lowered_on(const client::Gpu& gpu, const client::OnGpu& place, const std::string& word) {
    const double due = place.usage.target_share.value_or(0);
    if (place.quota.high_priority || due <= gpu.prio_ratio / 100.0) return {};
    const std::string index = std::to_string(gpu.index);
    std::string text = "Instance " + word + ": " + share_text(due) + " of GPU " + index +
                       " was due to it, and instances with high priority get at most " +
                       std::to_string(gpu.prio_ratio) + "% of it together. Try: cgpuctl ";
    if (gpu.prio_ratio < model::kMaxPrioRatio)
        text += "set-prio-ratio " + index + " " + std::to_string(model::kMaxPrioRatio) + ".";
    else
        text += "set-priority " + model::shell_word(word) + " normal, because more than " +
                std::to_string(model::kMaxPrioRatio) + "% can't be set.";
    return text;
}

/// What high priority takes from instances that are due more now than all such instances may use together.
std::vector<std::string> lowered_by_priority(const Input& input, client::Node& node) {
    std::vector<std::string> out;
    const auto snapshot = node.read();
    if (!snapshot) return out;
    std::string only;
    if (!input.gpu.empty()) {
        const auto gpu = gpu_meant(*snapshot, input.gpu, node);
        if (!gpu) return out;  // the change is refused for the same reason
        only = (*gpu)->uuid;
    }
    for (const std::string& word : input.instances) {
        const auto id = node.find_instance(word);
        const auto its = !id ? snapshot->instances.end()
                             : std::ranges::find(snapshot->instances, *id, &client::Instance::id);
        if (its == snapshot->instances.end()) continue;
        for (const client::OnGpu& place : its->gpus) {
            const auto gpu = std::ranges::find(snapshot->gpus, place.quota.gpu, &client::Gpu::uuid);
            if (gpu == snapshot->gpus.end() || (!only.empty() && only != gpu->uuid)) continue;
            if (auto text = lowered_on(*gpu, place, word); !text.empty()) out.push_back(std::move(text));
        }
    }
    return out;
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
                      },
                      [&](client::Change& one) { one.memory_limit = size->count(); }},
                     input, node, terminal);
    if (!done || !input.wait || input.dry_run) return done;
    return wait_for_memory(ids, timeout->value_or(kWaitForMemory), input, node, terminal);
}

client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal) {
    const auto weight = read_weight(input.weight);
    if (!weight) return tl::unexpected(weight.error());
    if (weight->percent) return set_percent(*weight->percent, input, node, terminal);
    return make({"weight " + std::to_string(*weight->slices), "weight", *weight->slices,
                 [&](const std::string& instance, const client::Setting& how) {
                     return node.set_weight(instance, input.gpu, *weight->slices, how);
                 },
                 [&](client::Change& one) { one.weight = *weight->slices; }},
                input, node, terminal);
}

client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal) {
    const std::string priority = model::lowered(input.priority);
    if (priority != "high" && priority != "normal")
        return client::fail(ClientError::Kind::usage, "priority " + model::quote(input.priority) +
                                                          ": there is no such. Try: high or normal.");
    const bool high = priority == "high";
    // What is due to them is read before the change.
    const auto warnings = high ? lowered_by_priority(input, node) : std::vector<std::string>();
    auto done = make({priority + " priority", "high_priority", high,
                      [&](const std::string& instance, const client::Setting& how) {
                          return node.set_high_priority(instance, input.gpu, high, how);
                      },
                      [&](client::Change& one) { one.high_priority = high; }},
                     input, node, terminal);
    if (done && !input.quiet)
        for (const std::string& warning : warnings) terminal.warning(warning);
    return done;
}

}  // namespace cgpu::cgpuctl
