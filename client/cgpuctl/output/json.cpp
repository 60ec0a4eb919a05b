#include "client/cgpuctl/output/json.hpp"

#include <algorithm>

namespace cgpu::cgpuctl {
namespace {

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

Json share_or_null(const std::optional<double>& share) { return share ? Json(*share) : Json(); }

Json of_processes(const std::map<std::uint32_t, std::uint64_t>& memory) {
    Json all = Json::object();
    for (const auto& [pid, bytes] : memory) all[std::to_string(pid)] = bytes;
    return all;
}

Json to_json(const std::vector<client::Waits>& all) {
    Json list = Json::array();
    for (const auto& [most, launches] : all)
        list.push_back(
            {{"at_most_seconds", most == INT64_MAX ? Json() : Json(static_cast<double>(most) / 1e9)},
             {"launches", launches}});
    return list;
}

Json to_json(const client::OnGpu& place) {
    const auto& [quota, usage] = place;
    return {
        {"uuid", quota.gpu},
        {"index", quota.gpu_index},
        {"memory_limit_bytes", quota.memory_limit},
        {"memory_used_bytes", usage.memory_used},
        {"memory_leased_bytes", usage.memory_leased},
        {"memory_peak_bytes", usage.memory_peak},
        {"memory_unexplained_bytes", usage.memory_unexplained},
        {"allocations_refused", usage.allocations_refused},
        {"weight", quota.weight},
        {"asked_share", quota.percent ? Json(*quota.percent / 100.0) : Json()},
        {"high_priority", quota.high_priority},
        {"target_share", share_or_null(usage.target_share)},
        {"achieved_share", share_or_null(usage.achieved_share)},
        {"compute_unexplained_share", share_or_null(usage.compute_unexplained)},
        {"gpu_time_seconds", seconds(usage.gpu_time)},
        {"waited_seconds", seconds(usage.waited)},
        {"launch_waits", to_json(usage.launch_waits)},
        {"longest_kernel_seconds", seconds(usage.longest_kernel)},
        {"launches", usage.launches},
        {"preemptions", usage.preemptions},
        {"processes", usage.processes},
        {"memory_of_processes_bytes", of_processes(usage.memory_of_processes)},
        {"processes_outside", usage.processes_outside},
    };
}

Json to_json(const client::ForeignGpu& foreign) {
    return {
        {"uuid", foreign.uuid},
        {"index", foreign.index},
        {"memory_used_bytes", foreign.usage.memory_used},
        {"memory_unexplained_bytes", foreign.usage.memory_unexplained},
        {"processes_outside", foreign.usage.processes_outside},
    };
}

}  // namespace

Json to_json(const client::Gpu& gpu) {
    return {
        {"uuid", gpu.uuid},
        {"index", gpu.index},
        {"model", gpu.model},
        {"present", gpu.present},
        {"obstacle", gpu.obstacle},
        {"mode", gpu.mode},
        {"policy", gpu.policy},
        {"policy_name", gpu.policy_name},
        {"max_inst", gpu.max_inst},
        {"free_weight", gpu.free_weight},
        {"prio_ratio", static_cast<double>(gpu.prio_ratio) / 100},
        {"memory_total_bytes", gpu.memory_total},
        {"memory_allocated_bytes", gpu.memory_allocated},
        {"memory_used_bytes", gpu.memory_used},
        {"memory_leased_bytes", gpu.memory_leased},
        {"xid_errors", gpu.xid_errors},
        {"last_xid", gpu.last_xid},
        {"strangers_share", share_or_null(gpu.strangers)},
    };
}

Json to_json(const client::Instance& instance) {
    Json gpus = Json::array();
    for (const client::OnGpu& place : instance.gpus) gpus.push_back(to_json(place));
    Json foreign_gpus = Json::array();
    for (const client::ForeignGpu& foreign : instance.foreign_gpus) foreign_gpus.push_back(to_json(foreign));
    return {
        {"id", instance.id},
        {"name", instance.name},
        {"image", instance.image},
        {"state", instance.state},
        {"pid", instance.pid},
        {"created_seconds", instance.created},
        {"module_version", instance.module_version},
        {"managed", instance.managed},
        {"gpus", std::move(gpus)},
        {"foreign_gpus", std::move(foreign_gpus)},
    };
}

Json to_json(const client::UnmanagedContainer& container, const std::vector<client::Gpu>& gpus) {
    Json places = Json::array();
    for (const client::Gpu& gpu : gpus) {
        const auto held = container.memory.find(gpu.uuid);
        const bool named = container.gpus.empty() || std::find(container.gpus.begin(), container.gpus.end(),
                                                               gpu.uuid) != container.gpus.end();
        if (!named && held == container.memory.end()) continue;
        places.push_back({{"uuid", gpu.uuid},
                          {"index", gpu.index},
                          {"memory_limit_bytes", Json()},
                          {"memory_used_bytes", held == container.memory.end() ? 0 : held->second}});
    }
    return {
        {"id", container.id},
        {"name", container.name},
        {"state", "unmanaged"},
        {"pid", container.pid},
        {"created_seconds", container.created},
        {"module_version", ""},
        {"managed", false},
        {"gpus", std::move(places)},
        {"foreign_gpus", Json::array()},
    };
}

Json to_json(const client::DriverLimits& limits) {
    return {
        {"backend", limits.backend},
        {"why_none", limits.why_none},
        {"own_limit_bytes", limits.own_limit ? Json(*limits.own_limit) : Json()},
    };
}

Json to_json(const client::Job& job) {
    return {
        {"id", job.id},         {"kind", job.kind},       {"from", job.from},
        {"target", job.target}, {"state", job.state},     {"done", job.done},
        {"all", job.all},       {"message", job.message}, {"result", job.result},
    };
}

Json to_json(const client::Kept& kept) {
    return {
        {"name", kept.name},
        {"owner", kept.owner},
        {"device", kept.device},
        {"memory_limit_bytes", kept.memory_limit ? Json(*kept.memory_limit) : Json()},
        {"weight", kept.weight ? Json(*kept.weight) : Json()},
        {"high_priority", kept.high_priority ? Json(*kept.high_priority) : Json()},
    };
}

std::string to_text(const Json& json) {
    // Plain ASCII: names of others may have characters that a terminal obeys.
    return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace cgpu::cgpuctl
