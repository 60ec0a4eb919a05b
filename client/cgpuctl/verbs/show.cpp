#include <algorithm>
#include <utility>

#include "client/cgpuctl/base/gpu_meant.hpp"
#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/queue/queued_text.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "core/model/duration.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

void print_instances_on(const client::Snapshot& snapshot, const client::Gpu& gpu, Terminal& terminal,
                        bool legend) {
    Table table({"ID", "NAME", "MEMORY", "WEIGHT", "SHARE", "STATE"});
    for (const client::Instance& instance : snapshot.instances) {
        const client::OnGpu* place = instance.on(gpu.uuid);
        if (place == nullptr) continue;
        table.add({short_id(instance.id), shown_name(instance.name),
                   of_text(place->usage.memory_used, place->quota.memory_limit),
                   weight_text(place->quota, {gpu}), shares_text(place->usage),
                   place->quota.paused ? "paused" : instance.state});
    }
    if (table.empty()) return;
    terminal.out() << '\n';
    table.print(terminal, legend);
}

/// What the driver says of the GPU now; refused: why it isn't known.
client::Result<client::DriverLimits> limits_of(const client::Gpu& gpu, client::Node& node) {
    const auto examination = node.examine();
    if (!examination) return tl::unexpected(examination.error());
    for (const client::ExaminedGpu& each : examination->gpus)
        if (each.uuid == gpu.uuid) return each.limits;
    return client::DriverLimits{
        "none",
        examination->driver_error.empty() ? "the driver doesn't show this GPU" : examination->driver_error,
        std::nullopt};
}

/// ` (lost: NVML says: GPU is lost)`
std::string lost_text(const client::Gpu& gpu) {
    return " (lost: " + (gpu.obstacle.empty() ? "the driver no longer shows it" : gpu.obstacle) + ")";
}

/// `48% of the time, process 4711 most of it`
std::string strangers_text(const client::Gpu& gpu) {
    if (!gpu.strangers) return "not known";
    if (*gpu.strangers <= 0) return "none";
    return share_text(*gpu.strangers) + " of the time, process " + std::to_string(gpu.strangers_process) +
           " most of it";
}

void print(const client::Snapshot& snapshot, const client::Gpu& gpu,
           const client::Result<client::DriverLimits>& limits, Terminal& terminal, bool legend) {
    print_facts(terminal,
                {{"GPU", std::to_string(gpu.index) + (gpu.present ? "" : lost_text(gpu)) +
                             (gpu.drained ? " (drained: it takes no new instance)" : "")},
                 {"UUID", gpu.uuid},
                 {"Model", gpu.model},
                 {"Mode", gpu.mode},
                 {"Policy", std::to_string(gpu.policy) + " " + gpu.policy_name},
                 {"Max instances", std::to_string(gpu.max_inst)},
                 {"Free weight", std::to_string(gpu.free_weight)},
                 {"Priority ratio", std::to_string(gpu.prio_ratio) + "%"},
                 {"Memory allocated", of_text(gpu.memory_allocated, gpu.memory_total)},
                 {"Memory used", size_text(gpu.memory_used)},
                 {"Strangers", strangers_text(gpu)},
                 {"Xid errors", gpu.xid_errors == 0 ? "none"
                                                    : std::to_string(gpu.xid_errors) + ", the last one " +
                                                          std::to_string(gpu.last_xid)},
                 {"Driver's limits", limits ? limits_text(*limits) : "not known: " + limits.error().text}});
    print_instances_on(snapshot, gpu, terminal, legend);
}

/// A weight without effect looks like any other: it is pointed out here.
std::string weight_and_remark(const client::Quota& quota, const client::Snapshot& snapshot) {
    std::string remark = quota.percent ? std::to_string(*quota.percent) + "% of the compute" : "";
    if (quota.paused) remark += remark.empty() ? "paused" : ", paused";
    for (const client::Gpu& gpu : snapshot.gpus) {
        const std::string ignored = gpu.uuid == quota.gpu ? why_weight_is_ignored(gpu) : "";
        if (!ignored.empty()) remark += (remark.empty() ? "" : ", ") + ignored;
    }
    return std::to_string(quota.weight) + (remark.empty() ? "" : " (" + remark + ")");
}

std::string share_or(const std::optional<double>& share, const char* otherwise) {
    return share ? share_text(*share) : otherwise;
}

/// `20ms (41 launches; 99% of them at most 3ms)`. Only the bounds of the buckets are known.
std::string waited_text(const client::Usage& usage) {
    std::string sum = duration_text(usage.waited);
    std::uint64_t all = 0;
    for (const std::uint64_t launches : usage.launch_waits.counts) all += launches;
    if (all == 0) return sum;
    const std::string count = sum + " (" + std::to_string(all) + (all == 1 ? " launch; " : " launches; ");
    const auto text_of = [](std::int64_t bound) {
        return duration_text(static_cast<std::uint64_t>(bound)) + ")";
    };
    std::uint64_t sooner = 0;
    std::int64_t longest = 0;
    for (std::size_t i = 0; i + 1 < usage.launch_waits.counts.size(); ++i) {
        longest = client::LaunchWaits::most(i);
        sooner += usage.launch_waits.counts[i];
        if (static_cast<double>(sooner) >= static_cast<double>(all) * 0.99)
            return count + (all == 1 ? "at most " : "99% of them at most ") + text_of(longest);
    }
    return count + (all == 1 ? "longer than " : "more than 1% of them longer than ") + text_of(longest);
}

std::string list_text(const std::vector<std::uint32_t>& pids) {
    std::string text;
    for (const std::uint32_t pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
    return text;
}

/// `1h30m left of 2h`
std::string time_text_of(const client::Instance& instance) {
    const auto left = instance.time_left.value_or(0);
    return (left == 0 ? "over, after " : model::format_duration(left) + " left of ") +
           model::format_duration(*instance.time_limit);
}

/// `ends after 30m without work`
std::string idle_text_of(const client::Instance& instance) {
    return (instance.idle_over ? "over, after " : "ends after ") +
           model::format_duration(*instance.idle_limit) + " without work";
}

void print(const client::Instance& instance, const client::Snapshot& snapshot, UserNames users,
           Terminal& terminal) {
    Facts facts = {
        {"Instance", instance.id},           {"Name", instance.name},
        {"State", instance.state},           {"PID", instance.pid == 0 ? "" : std::to_string(instance.pid)},
        {"Module", instance.module_version}, {"Created", time_text(instance.created)}};
    if (!instance.image.empty()) facts.insert(facts.begin() + 2, {"Image", instance.image});
    facts.emplace_back("Owner", owner_text(instance.owner, instance.declared_owner, users));
    if (instance.time_limit) facts.emplace_back("Time", time_text_of(instance));
    if (instance.idle_limit) facts.emplace_back("Idle", idle_text_of(instance));
    for (const client::Process& process : instance.processes)
        facts.emplace_back("Process", process_text(process, users));
    print_facts(terminal, facts);
    for (const auto& [quota, usage] : instance.gpus) {
        terminal.out() << '\n';
        print_facts(terminal, {{"GPU", std::to_string(quota.gpu_index) + " (" + quota.gpu + ")"},
                               {"Memory", memory_text(quota, usage)},
                               {"Memory leased", size_text(usage.memory_leased)},
                               {"Allocations refused", std::to_string(usage.allocations_refused)},
                               {"Weight", weight_and_remark(quota, snapshot)},
                               {"Priority", quota.high_priority ? "high" : "normal"},
                               {"Share due", share_or(usage.target_share, "native (the driver divides)")},
                               {"Share achieved", share_or(usage.achieved_share, "native (not measured)")},
                               {"GPU time", duration_text(usage.gpu_time)},
                               {"Waited", waited_text(usage)},
                               {"Launches", std::to_string(usage.launches)},
                               {"Preemptions", std::to_string(usage.preemptions)},
                               {"Longest kernel", duration_text(usage.longest_kernel)},
                               {"Processes", list_text(usage.processes)}});
        if (!usage.processes_outside.empty())
            print_facts(terminal, {{"Outside the module", list_text(usage.processes_outside)}});
        if (usage.compute_unexplained.value_or(0) > 0)
            print_facts(terminal, {{"Compute unexplained", share_text(*usage.compute_unexplained)}});
    }
    for (const auto& [uuid, index, usage] : instance.foreign_gpus) {
        terminal.out() << '\n';
        print_facts(terminal, {{"Not its GPU", std::to_string(index) + " (" + uuid + ")"},
                               {"Memory", size_text(usage.memory_used)},
                               {"Outside the module", list_text(usage.processes_outside)}});
    }
}

/// Those that the target means, in the same way as it would mean an instance.
std::vector<const client::UnmanagedContainer*> containers_named(const client::Snapshot& snapshot,
                                                                const std::string& target) {
    std::vector<model::Named> named;
    for (const client::UnmanagedContainer& container : snapshot.unmanaged)
        named.push_back({container.id, container.name});
    std::vector<const client::UnmanagedContainer*> all;
    for (const std::size_t each : model::meant_by(target, named)) all.push_back(&snapshot.unmanaged[each]);
    return all;
}

client::Result<void> show(const std::vector<const client::UnmanagedContainer*>& meant,
                          const std::vector<client::Gpu>& gpus, const ShowInput& input, Terminal& terminal) {
    if (meant.size() > 1) {
        constexpr std::size_t kMostNamed = 16;
        std::string ids;
        for (std::size_t each = 0; each < std::min(meant.size(), kMostNamed); ++each)
            ids += (ids.empty() ? "" : ", ") + model::quote(meant[each]->id);
        return client::fail(ClientError::Kind::refused,
                            "container " + model::quote(input.target) + ": " + std::to_string(meant.size()) +
                                " containers without a limit are meant by it. Try: name one of: " + ids +
                                (meant.size() > kMostNamed ? ", or another of cgpuctl list." : "."));
    }
    const client::UnmanagedContainer& container = *meant.front();
    if (input.json) {
        terminal.out() << to_text(to_json(container, gpus));
        return {};
    }
    print_facts(terminal, {{"Container", container.id},
                           {"Name", container.name},
                           {"State", "unmanaged (it has no limit, and ends with its process)"},
                           {"PID", container.pid == 0 ? "" : std::to_string(container.pid)},
                           {"Created", time_text(container.created)}});
    for (const client::Gpu& gpu : gpus) {
        const auto held = container.memory.find(gpu.uuid);
        const bool named =
            container.gpus.empty() || std::ranges::find(container.gpus, gpu.uuid) != container.gpus.end();
        if (!named && held == container.memory.end()) continue;
        terminal.out() << '\n';
        print_facts(terminal, {{"GPU", std::to_string(gpu.index) + " (" + gpu.uuid + ")"},
                               {"Memory", size_text(held == container.memory.end() ? 0 : held->second)}});
    }
    return {};
}

}  // namespace

client::Result<void> show(const ShowInput& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto named = find_gpu_meant(*snapshot, input.target, node);
    if (!named) return tl::unexpected(named.error());
    if (const client::Gpu* gpu = *named) {
        const auto limits = limits_of(*gpu, node);
        if (input.json) {
            Json json = to_json(*gpu);
            json["driver_limits"] = limits ? to_json(*limits) : Json();
            terminal.out() << to_text(json);
        } else {
            print(*snapshot, *gpu, limits, terminal, !input.no_legend);
        }
        return {};
    }
    if (const auto* queued = queued_alone(*snapshot, input.target, said_by(input))) {
        print_queued(*queued, input, terminal);
        return {};
    }
    const auto instance = instance_meant(*snapshot, input.target, said_by(input), node);
    if (!instance && names_a_gpu(input.target))
        return gpu_meant(*snapshot, input.target, node).map([](auto) {});
    if (!instance) {
        const auto meant = containers_named(*snapshot, input.target);
        if (meant.empty() || instance.error().kind != ClientError::Kind::not_found)
            return tl::unexpected(instance.error());
        return show(meant, snapshot->gpus, input, terminal);
    }
    if (input.json)
        terminal.out() << to_text(to_json(**instance));
    else
        print(**instance, *snapshot, UserNames(input.host.empty()), terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
