// ps: the processes of instances.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "client/cgpuctl/instances/chosen.hpp"
#include "client/cgpuctl/instances/meant.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/table.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Instance;
using client::Result;

/// A process on a GPU, or one of which no GPU is known.
struct Row {
    std::uint32_t pid = 0;
    std::optional<std::uint32_t> gpu;  ///< index
    std::string uuid;
    std::optional<std::uint64_t> memory;  ///< empty: not known by process
    bool outside = false;                 ///< it uses the GPU without the module
};

void add_rows(std::vector<Row>& rows, const std::string& uuid, std::uint32_t index,
              const client::Usage& usage) {
    std::set<std::uint32_t> pids(usage.processes.begin(), usage.processes.end());
    pids.insert(usage.processes_outside.begin(), usage.processes_outside.end());
    for (const std::uint32_t pid : pids) {
        Row row{pid, index, uuid, std::nullopt, std::ranges::count(usage.processes_outside, pid) > 0};
        if (const auto its = usage.memory_of_processes.find(pid); its != usage.memory_of_processes.end())
            row.memory = its->second;
        rows.push_back(std::move(row));
    }
}

/// By pid. `gpu`: only those on it; empty: all.
std::vector<Row> rows_of(const Instance& instance, const std::string& gpu) {
    std::vector<Row> rows;
    for (const auto& [quota, usage] : instance.gpus) add_rows(rows, quota.gpu, quota.gpu_index, usage);
    for (const client::ForeignGpu& foreign : instance.foreign_gpus)
        add_rows(rows, foreign.uuid, foreign.index, foreign.usage);
    std::set<std::uint32_t> others;
    for (const client::Process& process : instance.processes) others.insert(process.pid);
    if (instance.pid != 0) others.insert(instance.pid);
    for (const Row& row : rows) others.erase(row.pid);
    for (const std::uint32_t pid : others) {
        Row& row = rows.emplace_back();
        row.pid = pid;
    }
    if (!gpu.empty()) std::erase_if(rows, [&](const Row& row) { return row.uuid != gpu; });
    std::ranges::stable_sort(rows, {}, &Row::pid);
    return rows;
}

/// Null: cgpud hasn't looked at it.
const client::Process* facts_of(const Row& row, const Instance& instance) {
    const auto found = std::ranges::find(instance.processes, row.pid, &client::Process::pid);
    return found == instance.processes.end() ? nullptr : &*found;
}

Json json_of(const Row& row, const Instance& instance) {
    const client::Process* process = facts_of(row, instance);
    return {
        {"pid", row.pid},
        {"uid", process != nullptr && process->uid ? Json(*process->uid) : Json()},
        {"command", process != nullptr ? process->command : ""},
        {"instance", instance.id},
        {"name", instance.name},
        {"uuid", row.gpu ? Json(row.uuid) : Json()},
        {"index", row.gpu ? Json(*row.gpu) : Json()},
        {"memory_used_bytes", row.memory ? Json(*row.memory) : Json()},
        {"outside", row.outside},
    };
}

std::vector<std::string> cells_of(const Row& row, const Instance& instance, UserNames& users) {
    const client::Process* process = facts_of(row, instance);
    std::string command = process != nullptr ? shown_name(process->command) : "";
    if (row.outside) command += (command.empty() ? "- " : " ") + std::string("(outside the module)");
    return {std::to_string(row.pid),
            process != nullptr && process->uid ? users.of(*process->uid) : "",
            shown_name(instance.name, instance.id),
            row.gpu ? std::to_string(*row.gpu) : "",
            row.memory ? size_text(*row.memory) : "",
            command};
}

}  // namespace

Result<void> ps_verb(const PsInput& input, client::Node& node, Terminal& terminal) {
    auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    UserNames users(input.host.empty());
    const auto chosen = read_chosen(input, *snapshot, node, users);
    if (!chosen) return tl::unexpected(chosen.error());
    if (!input.instances.empty()) {
        auto meant = instances_meant(*snapshot, input.instances, said_by(input), node);
        if (!meant) return tl::unexpected(meant.error());
        snapshot->instances = std::move(*meant);
    }
    keep_chosen(*snapshot, *chosen);
    Table table({"PID", "USER", "INSTANCE", "GPU", "MEMORY", "COMMAND"});
    Json all = Json::array();
    for (const Instance& instance : snapshot->instances)
        for (const Row& row : rows_of(instance, chosen->gpu)) {
            if (input.json)
                all.push_back(json_of(row, instance));
            else
                table.add(cells_of(row, instance, users));
        }
    if (input.json)
        terminal.out() << to_text(all);
    else
        table.print(terminal, !input.no_legend);
    return {};
}

}  // namespace cgpu::cgpuctl
