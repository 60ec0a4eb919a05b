#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/nvml/node.hpp"

/// NVML's lists of processes.
namespace simgpu {

constexpr unsigned int kNotPartitioned = 0xFFFFFFFF;

/// What one process holds on a GPU, as far as this process may see it.
struct Use {
    unsigned int pid;
    std::uint64_t bytes;
};

/// Brings the device to the present state, without what dead processes held.
void look(Session& session);

using IsListed = bool (*)(ProcessType);
bool in_any_list(ProcessType type);
bool in_compute_list(ProcessType type);
bool in_graphics_list(ProcessType type);
bool in_mps_list(ProcessType type);

/// Returns processes with memory on the GPU. Those whose pid this process cannot see are left out, as NVML
/// does in a container.
std::vector<Use> uses_of(Device& device, std::uint32_t gpu, IsListed is_listed);

/// NVML's way of returning lists: for a buffer that is too small (or none) it returns the size that is
/// needed.
template <typename From, typename Item, typename Make>
nvmlReturn_t answer_list(const std::vector<From>& uses, unsigned int* count, Item* items, Make make) {
    const auto needed = static_cast<unsigned int>(uses.size());
    const unsigned int room = *count;
    *count = needed;
    if (needed == 0) return NVML_SUCCESS;
    if (room < needed || !items) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned int i = 0; i < needed; ++i) items[i] = make(uses[i]);
    return NVML_SUCCESS;
}

template <typename Item, typename Make>
nvmlReturn_t running_processes(nvmlDevice_t handle, unsigned int* count, Item* items, IsListed is_listed,
                               Make make) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    return answer_list(uses_of(*device, gpu, is_listed), count, items, make);
}

}  // namespace simgpu
