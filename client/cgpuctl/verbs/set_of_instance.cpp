// set-memory, set-weight and set-priority: settings of instances, until they end or also for their next
// starts; pause and resume.
#include <algorithm>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/jobs/wait_until.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/verbs/changing.hpp"
#include "core/model/gpu.hpp"
#include "core/model/quote.hpp"
#include "core/model/reason_in.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

constexpr std::uint32_t kWaitForMemory = 60;  // seconds

/// Reports that the change was made, if it was, and for how long.
void say(const Wanted& wanted, const std::string& instance, const std::string& kept_for,
         const InstanceSettingInput& input, Terminal& terminal) {
    const std::string its = "Instance " + printable(instance) + ": ";
    if (wanted.paused) {
        const std::string done = *wanted.paused ? "paused" : "resumed";
        terminal.done(its + (input.dry_run    ? "it could be " + done + "; nothing was changed."
                             : *wanted.paused ? "it is paused, until it is resumed."
                                              : "it is resumed."));
        return;
    }
    const std::string start = its + wanted.figure;
    const std::string next = "for the next starts of " + shown_name(kept_for);
    const bool kept = !kept_for.empty();
    if (input.dry_run)
        terminal.done(start + " could be set" + (kept ? ", and kept " + next : "") +
                      "; nothing was changed.");
    else
        terminal.done(start +
                      (kept ? " is set, and kept " + next + "." : " is set, until the instance ends."));
}

Json change_json(const Wanted& wanted, const std::string& instance, const std::string& kept_for,
                 bool dry_run) {
    return {{"instance", instance},
            {wanted.key, wanted.value},
            {"kept", !kept_for.empty()},
            {"kept_for", kept_for.empty() ? Json() : Json(kept_for)},
            {"dry_run", dry_run}};
}

/// For whose next starts each of the instances is kept, in their order; empty names: it isn't. Read before
/// the change, because an instance may have ended after it.
client::Result<std::vector<std::string>> names_of(const InstanceSettingInput& input, client::Node& node) {
    std::vector<std::string> names(input.instances.size());
    if (!input.persist) return names;
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    for (std::size_t each = 0; each < names.size(); ++each) {
        const auto its = instance_meant(*snapshot, input.instances[each], said_to_change(input), node);
        if (!its) return tl::unexpected(its.error());
        names[each] = (*its)->name;
    }
    return names;
}

/// As one change: it is made for all of them, or for none. Returns for whose next starts it is kept.
client::Result<std::vector<std::string>> make_for_all(const Wanted& wanted, const InstanceSettingInput& input,
                                                      client::Node& node) {
    auto kept_for = names_of(input, node);
    auto made = kept_for ? make(wanted.changes, input, node) : tl::unexpected(kept_for.error());
    if (made) return kept_for;
    ClientError refusal = std::move(made.error());
    if (input.instances.size() > 1)
        refusal.text.insert(model::reason_in(refusal.text).size(), "; none of the instances was changed");
    return tl::unexpected(std::move(refusal));
}

client::Result<void> set(const Wanted& wanted, const InstanceSettingInput& input, client::Node& node,
                         Terminal& terminal) {
    const auto kept_for = make_for_all(wanted, input, node);
    if (!kept_for) return tl::unexpected(kept_for.error());
    Json list = Json::array();
    for (std::size_t each = 0; each < input.instances.size(); ++each) {
        if (input.json)
            list.push_back(change_json(wanted, input.instances[each], (*kept_for)[each], input.dry_run));
        else
            say(wanted, input.instances[each], (*kept_for)[each], input, terminal);
    }
    if (input.json) terminal.out() << to_text(list.size() > 1 ? list : list.front());
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
                                     const InstanceSettingInput& input, client::Node& node,
                                     Terminal& terminal) {
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
std::vector<std::string> lowered_by_priority(const InstanceSettingInput& input, client::Node& node) {
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
        const client::Instance* its = find_instance_meant(*snapshot, word, said_by(input));
        if (its == nullptr) continue;
        for (const client::OnGpu& place : its->gpus) {
            const auto gpu = std::ranges::find(snapshot->gpus, place.quota.gpu, &client::Gpu::uuid);
            if (gpu == snapshot->gpus.end() || (!only.empty() && only != gpu->uuid)) continue;
            if (auto text = lowered_on(*gpu, place, word); !text.empty()) out.push_back(std::move(text));
        }
    }
    return out;
}

}  // namespace

client::Result<void> set_memory(const MemoryInput& input, client::Node& node, Terminal& terminal) {
    const auto wanted = wanted_memory(input);
    if (!wanted) return tl::unexpected(wanted.error());
    if (!input.timeout.empty() && !input.wait)
        return client::fail(ClientError::Kind::usage,
                            "--timeout: it is how long --wait waits. Try: cgpuctl set-memory --help.");
    const auto timeout = read_timeout(input.timeout);
    if (!timeout) return tl::unexpected(timeout.error());
    // By id, because another instance may have the name when the first one has ended.
    std::vector<std::string> ids;
    for (const std::string& instance : input.wait ? input.instances : std::vector<std::string>()) {
        const auto id = node.find_instance(instance);
        if (!id) return tl::unexpected(id.error());
        ids.push_back(*id);
    }
    auto done = set(*wanted, input, node, terminal);
    if (!done || !input.wait || input.dry_run) return done;
    return wait_for_memory(ids, timeout->value_or(kWaitForMemory), input, node, terminal);
}

client::Result<void> set_weight(const InstanceSettingInput& input, client::Node& node, Terminal& terminal) {
    return wanted_weight(input).and_then(
        [&](const Wanted& wanted) { return set(wanted, input, node, terminal); });
}

client::Result<void> pause_verb(const InstanceSettingInput& input, client::Node& node, Terminal& terminal) {
    return wanted_pause(input).and_then(
        [&](const Wanted& wanted) { return set(wanted, input, node, terminal); });
}

client::Result<void> resume_verb(const InstanceSettingInput& input, client::Node& node, Terminal& terminal) {
    return wanted_resume(input).and_then(
        [&](const Wanted& wanted) { return set(wanted, input, node, terminal); });
}

client::Result<void> set_priority(const InstanceSettingInput& input, client::Node& node, Terminal& terminal) {
    const auto wanted = wanted_priority(input);
    if (!wanted) return tl::unexpected(wanted.error());
    // What is due to them is read before the change.
    const auto warnings =
        wanted->value == true ? lowered_by_priority(input, node) : std::vector<std::string>();
    auto done = set(*wanted, input, node, terminal);
    if (done && !input.quiet)
        for (const std::string& warning : warnings) terminal.warning(warning);
    return done;
}

}  // namespace cgpu::cgpuctl
