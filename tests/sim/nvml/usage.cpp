#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/nvml/process_uses.hpp"

using namespace simgpu;

namespace {

nvmlReturn_t running_v1(nvmlDevice_t handle, unsigned int* count, nvmlProcessInfo_v1_t* infos,
                        IsListed is_listed) {
    return running_processes(handle, count, infos, is_listed, [](const Use& use) {
        return nvmlProcessInfo_v1_t{use.pid, use.bytes};
    });
}

nvmlReturn_t running_v2(nvmlDevice_t handle, unsigned int* count, nvmlProcessInfo_t* infos,
                        IsListed is_listed) {
    return running_processes(handle, count, infos, is_listed, [](const Use& use) {
        return nvmlProcessInfo_t{use.pid, use.bytes, kNotPartitioned, kNotPartitioned};
    });
}

nvmlReturn_t used_bytes(nvmlDevice_t handle, const Card*& card, std::shared_ptr<Device>& device,
                        std::uint64_t& used) {
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    Session session(*device);
    look(session);
    card = &device->card(gpu);
    used = Ledger(session).used_bytes(gpu);
    return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
    std::shared_ptr<Device> device;
    const Card* card = nullptr;
    std::uint64_t used = 0;
    if (const nvmlReturn_t result = used_bytes(handle, card, device, used); result != NVML_SUCCESS)
        return result;
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    *memory = {card->memory_bytes, card->memory_bytes - used, used};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
    std::shared_ptr<Device> device;
    const Card* card = nullptr;
    std::uint64_t used = 0;
    if (const nvmlReturn_t result = used_bytes(handle, card, device, used); result != NVML_SUCCESS)
        return result;
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = card->memory_bytes + card->reserved_bytes;
    memory->reserved = card->reserved_bytes;
    memory->used = used;
    memory->free = card->memory_bytes - used;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t* utilization) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!utilization) return NVML_ERROR_INVALID_ARGUMENT;
    Session session(*device);
    look(session);
    const TimelineState& timeline = session.layout().timeline;
    const Nanoseconds busy = timeline.gpus[gpu].busy.last_second(timeline.now);
    *utilization = {static_cast<unsigned int>(busy / 10'000'000), 0};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* infos) {
    return running_v1(handle, count, infos, in_compute_list);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned int* count,
                                                     nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_compute_list);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                     nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_compute_list);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t handle, unsigned int* count,
                                                   nvmlProcessInfo_v1_t* infos) {
    return running_v1(handle, count, infos, in_graphics_list);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t handle, unsigned int* count,
                                                      nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_graphics_list);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                      nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_graphics_list);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t handle, unsigned int* count,
                                                     nvmlProcessInfo_v1_t* infos) {
    return running_v1(handle, count, infos, in_mps_list);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned int* count,
                                                        nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_mps_list);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned int* count,
                                                        nvmlProcessInfo_t* infos) {
    return running_v2(handle, count, infos, in_mps_list);
}

}  // extern "C"
