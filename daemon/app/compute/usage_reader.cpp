#include "daemon/app/compute/usage_reader.hpp"

#include <utility>

namespace cgpu::app {

InstanceUsage UsageReader::usage(const model::InstanceId& id, const model::Uuid& gpu) const {
    InstanceUsage usage;
    usage.memory_used = leases_.pools().used(id, gpu);
    usage.memory_leased = leases_.pools().leased(id, gpu);
    usage.memory_peak = leases_.peak(id, gpu);
    usage.memory_time = leases_.memory_time(id, gpu);
    usage.memory_unexplained = leases_.pools().unexplained(id, gpu);
    usage.allocations_refused = leases_.pools().refused(id, gpu);
    for (const auto& [process, bytes] : leases_.pools().holders(id, gpu))
        usage.memory_of_processes[static_cast<std::uint32_t>(process.pid)] += bytes;
    slicer_.fill_usage(id, gpu, usage);
    const auto outside = leases_.pools().outside(id, gpu);
    usage.processes_outside.assign(outside.begin(), outside.end());
    if (usage.target_share) usage.compute_unexplained = witness_.unreported(id, gpu);
    return usage;
}

std::vector<model::Process> UsageReader::members(const model::InstanceId& id, const model::Uuid& gpu) const {
    auto all = slicer_.members(id, gpu);
    for (auto& process : leases_.pools().processes_outside(id, gpu)) all.push_back(std::move(process));
    return all;
}

}  // namespace cgpu::app
