#include "daemon/gpu/reader/nvml_library.hpp"

#include <dlfcn.h>

namespace cgpu::gpu {
namespace {

template <class F>
bool look_up(void* library, F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

tl::expected<NvmlLibrary, std::string> NvmlLibrary::load() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return tl::unexpected(std::string("no NVIDIA driver found: ") + dlerror());
    NvmlLibrary nvml;
    nvml.library_ = library;
    std::string lacking;
    const auto need = [&](auto& function, const char* symbol) {
        if (!look_up(library, function, symbol))
            lacking += (lacking.empty() ? "" : ", ") + std::string(symbol);
    };
    need(nvml.init, "nvmlInit_v2");
    need(nvml.shutdown, "nvmlShutdown");
    need(nvml.error_string, "nvmlErrorString");
    need(nvml.device_count, "nvmlDeviceGetCount_v2");
    need(nvml.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
    need(nvml.uuid, "nvmlDeviceGetUUID");
    need(nvml.name, "nvmlDeviceGetName");
    need(nvml.memory_v1, "nvmlDeviceGetMemoryInfo");
    need(nvml.compute_mode, "nvmlDeviceGetComputeMode");
    if (!look_up(library, nvml.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3"))
        need(nvml.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v2");
    if (!look_up(library, nvml.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3"))
        look_up(library, nvml.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v2");
    if (!look_up(library, nvml.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v3"))
        look_up(library, nvml.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v2");
    look_up(library, nvml.pci, "nvmlDeviceGetPciInfo_v3");
    look_up(library, nvml.driver_version, "nvmlSystemGetDriverVersion");
    look_up(library, nvml.persistence_mode, "nvmlDeviceGetPersistenceMode");
    look_up(library, nvml.memory_limits, "nvmlDeviceGetMemoryLimits_v1");
    look_up(library, nvml.utilization, "nvmlDeviceGetProcessUtilization");
    look_up(library, nvml.utilization_list, "nvmlDeviceGetProcessesUtilizationInfo");
    look_up(library, nvml.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
    look_up(library, nvml.mig_mode, "nvmlDeviceGetMigMode");
    if (!look_up(library, nvml.event_set_create, "nvmlEventSetCreate") ||
        !look_up(library, nvml.event_set_free, "nvmlEventSetFree") ||
        !look_up(library, nvml.register_events, "nvmlDeviceRegisterEvents") ||
        !look_up(library, nvml.event_set_wait, "nvmlEventSetWait_v2"))
        nvml.event_set_create = nullptr;
    if (!lacking.empty()) {
        nvml.unload();
        return tl::unexpected("the NVIDIA driver is too old: libnvidia-ml.so.1 lacks " + lacking);
    }
    return nvml;
}

void NvmlLibrary::unload() {
    dlclose(library_);
    *this = NvmlLibrary();
}

}  // namespace cgpu::gpu
