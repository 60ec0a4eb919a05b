#include "daemon/app/compute/usage_reader.hpp"

namespace cgpu::app {

InstanceUsage UsageReader::usage(const model::InstanceId& id, const model::Uuid& gpu) const {
    InstanceUsage usage;
    usage.memory_used = leases_.pools().used(id, gpu);
    usage.memory_leased = leases_.pools().leased(id, gpu);
    usage.memory_peak = leases_.peak(id, gpu);
    usage.memory_unexplained = leases_.pools().unexplained(id, gpu);
    usage.allocations_refused = leases_.pools().refused(id, gpu);
    for (const auto& [process, bytes] : leases_.pools().holders(id, gpu))
        usage.memory_of_processes[static_cast<std::uint32_t>(process.pid)] += bytes;
    slicer_.fill_usage(id, gpu, usage);
    for (const auto& process : leases_.pools().processes_outside(id, gpu)) {
        usage.processes_outside.push_back(static_cast<std::uint32_t>(process.pid));
        usage.members.push_back(process);
    }
    if (usage.target_share) usage.compute_unexplained = witness_.unreported(id, gpu);
    return usage;
}

}  // namespace cgpu::app
