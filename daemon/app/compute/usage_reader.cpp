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
        usage.memory_of_processes[process.pid] += bytes;
    usage.outside = leases_.pools().outside(id, gpu);
    slicer_.fill_usage(id, gpu, usage);
    usage.compute_unexplained = witness_.unreported(id, gpu);
    return usage;
}

}  // namespace cgpu::app
