// The limits of cgroups' memory that drivers have from 615 on: as the backend `misc` answers, by NVIDIA's
// documentation and the source of its open kernel modules. They are not enforced.
#include "tests/sim/device/ledger/memory_limits.hpp"

#include <unistd.h>

#include <fstream>

#include "tests/sim/nvml/process_uses.hpp"

using namespace simgpu;

namespace {

/// What processes in this cgroup, or in one below it, have of the GPU.
std::uint64_t used_in(Device& device, std::uint32_t gpu, const std::string& folder) {
    std::uint64_t bytes = 0;
    for (const Use& use : uses_of(device, gpu, in_any_list)) {
        std::ifstream file("/proc/" + std::to_string(use.pid) + "/cgroup");
        for (std::string line; std::getline(file, line);) {
            if (line.rfind("0::", 0) != 0) continue;
            const std::string path = "/sys/fs/cgroup" + line.substr(3);
            if (path == folder || path.rfind(folder + "/", 0) == 0) bytes += use.bytes;
        }
    }
    return bytes;
}

/// The device, the GPU and the cgroup that a call is about.
struct Asked {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    std::uint64_t cgroup = 0;
};

template <typename Limits>
nvmlReturn_t read_call(nvmlDevice_t handle, const Limits* limits, Asked& asked) {
    if (const nvmlReturn_t result = find_gpu(handle, asked.device, asked.gpu); result != NVML_SUCCESS)
        return result;
    if (!limits || !limits->nameSpace) return NVML_ERROR_INVALID_ARGUMENT;
    if (asked.device->mode(asked.gpu) == GpuMode::mig) return NVML_ERROR_NOT_SUPPORTED;
    asked.cgroup = cgroup_number(limits->nameSpace);
    return asked.cgroup == 0 ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMemoryLimits_v1(nvmlDevice_t handle, nvmlGetMemoryLimits_v1_t* limits) {
    Asked asked;
    if (const nvmlReturn_t result = read_call(handle, limits, asked); result != NVML_SUCCESS) return result;
    std::optional<MemoryLimit> limit;
    {
        Session session(*asked.device);
        look(session);
        limit = MemoryLimits(session).nearest(asked.gpu, limits->nameSpace);
    }
    if (!limit) return NVML_ERROR_NOT_SUPPORTED;
    limits->softLimit = limit->soft;
    limits->hardLimit = limit->hard;
    limits->currentUsed = used_in(*asked.device, asked.gpu, limits->nameSpace);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetMemoryLimits_v1(nvmlDevice_t handle, nvmlSetMemoryLimits_v1_t* limits) {
    Asked asked;
    if (const nvmlReturn_t result = read_call(handle, limits, asked); result != NVML_SUCCESS) return result;
    if (geteuid() != 0) return NVML_ERROR_NO_PERMISSION;
    if (limits->softLimit > limits->hardLimit) return NVML_ERROR_INVALID_ARGUMENT;
    Session session(*asked.device);
    return MemoryLimits(session).set(asked.gpu, asked.cgroup, limits->softLimit, limits->hardLimit)
               ? NVML_SUCCESS
               : NVML_ERROR_INSUFFICIENT_RESOURCES;
}

}  // extern "C"
