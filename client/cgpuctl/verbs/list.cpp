#include <algorithm>

#include "client/cgpuctl/instances/chosen.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/verbs/list_kept.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "core/model/duration.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

/// Whether the GPU has a row: all have one, or the one that is wanted.
bool is_shown(const std::string& uuid, const Chosen& chosen) {
    return chosen.gpu.empty() || chosen.gpu == uuid;
}

/// Of a container without a limit, whose state is `unmanaged`: a row for each GPU that it named or holds
/// memory of.
void add_rows(Table& table, const client::UnmanagedContainer& container, const std::vector<client::Gpu>& gpus,
              UserNames& users, const Chosen& chosen) {
    const auto add = [&](const std::string& gpu, const std::string& memory) {
        table.add({short_id(container.id), shown_name(container.name), owner_text(container.owner, "", users),
                   gpu, memory, "-", "-", container.pid == 0 ? "" : std::to_string(container.pid), "",
                   "unmanaged"});
    };
    bool any = false;
    for (const client::Gpu& gpu : gpus) {
        const auto held = container.memory.find(gpu.uuid);
        const bool named =
            std::find(container.gpus.begin(), container.gpus.end(), gpu.uuid) != container.gpus.end();
        if (!named && held == container.memory.end()) continue;
        any = true;
        if (!is_shown(gpu.uuid, chosen)) continue;
        add(std::to_string(gpu.index), size_text(held == container.memory.end() ? 0 : held->second));
    }
    if (!any) add("all", size_text(0));
}

/// `running`, `running, 1h30m left`, `time over`, `idle too long`, `paused`
std::string state_of(const client::Instance& instance, const client::Quota& quota) {
    const bool over = instance.time_limit && instance.time_left.value_or(0) == 0;
    if (over) return "time over";
    if (instance.idle_over) return "idle too long";
    std::string state = quota.paused && instance.managed ? std::string("paused") : state_text(instance);
    if (!instance.time_limit) return state;
    return state + ", " + model::format_duration(*instance.time_left) + " left";
}

void add_rows(Table& table, const client::Instance& instance, const std::vector<client::Gpu>& gpus,
              UserNames& users, const Chosen& chosen) {
    const auto owner = owner_text(instance.owner, instance.declared_owner, users);
    for (const auto& [quota, usage] : instance.gpus)
        if (is_shown(quota.gpu, chosen))
            table.add({short_id(instance.id), shown_name(instance.name), owner,
                       std::to_string(quota.gpu_index), memory_text(quota, usage), weight_text(quota, gpus),
                       shares_text(usage), instance.pid == 0 ? "" : std::to_string(instance.pid),
                       instance.module_version, state_of(instance, quota)});
    for (const client::ForeignGpu& foreign : instance.foreign_gpus)
        if (is_shown(foreign.uuid, chosen))
            table.add({short_id(instance.id), shown_name(instance.name), owner, std::to_string(foreign.index),
                       memory_text(foreign), "-", "-", "", "", state_text(instance)});
}

/// It has no GPU yet.
void add_row(Table& table, const client::Queued& queued, UserNames& users) {
    table.add({short_id(queued.id), shown_name(queued.name),
               owner_text(queued.owner, queued.declared_owner, users), "-", "-", "-", "-", "", "", "queued"});
}

Json to_json_of_list(const client::Queued& queued) {
    Json json = to_json(queued);
    json["state"] = "queued";
    json["gpus"] = Json::array();
    return json;
}

}  // namespace

client::Result<void> list(const ListInput& input, client::Node& node, Terminal& terminal) {
    if (input.kept) {
        if (!input.gpu.empty() || !input.user.empty() || !input.state.empty())
            return client::fail(Kind::usage,
                                "--kept: --gpu, --user and --state choose instances, not kept settings. Try: "
                                "cgpuctl list --kept.");
        return list_kept(input, node, terminal);
    }
    auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    UserNames users(input.host.empty());
    const auto chosen = read_chosen(input, *snapshot, node, users);
    if (!chosen) return tl::unexpected(chosen.error());
    keep_chosen(*snapshot, *chosen);
    if (input.json) {
        Json instances = Json::array();
        for (const client::Instance& instance : snapshot->instances) instances.push_back(to_json(instance));
        for (const client::UnmanagedContainer& container : snapshot->unmanaged)
            instances.push_back(to_json(container, snapshot->gpus));
        for (const client::Queued& queued : snapshot->queue) instances.push_back(to_json_of_list(queued));
        terminal.out() << to_text(instances);
        return {};
    }
    if (input.quiet) {
        for (const client::Instance& instance : snapshot->instances) terminal.out() << instance.id << '\n';
        // They are no instances, unless they are what was asked for.
        if (!chosen->state.empty()) {
            for (const client::Queued& queued : snapshot->queue) terminal.out() << queued.id << '\n';
            for (const client::UnmanagedContainer& container : snapshot->unmanaged)
                if (!container.booked) terminal.out() << container.id << '\n';
        }
        return {};
    }
    Table table({"ID", "NAME", "OWNER", "GPU", "MEMORY", "WEIGHT", "SHARE", "PID", "MODULE", "STATE"});
    for (const client::Instance& instance : snapshot->instances)
        add_rows(table, instance, snapshot->gpus, users, *chosen);
    for (const client::UnmanagedContainer& container : snapshot->unmanaged)
        add_rows(table, container, snapshot->gpus, users, *chosen);
    for (const client::Queued& queued : snapshot->queue) add_row(table, queued, users);
    table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
