#pragma once

#include <string>

#include <tl/expected.hpp>

/// NVIDIA's management library, loaded at run time: the daemon is built and installed on machines without a
/// driver. Names, numbers and layouts are those of NVIDIA's public nvml.h.
namespace cgpu::gpu {

using NvmlDevice = void*;

using NvmlEventSet = void*;

constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNotSupported = 3;
constexpr int kNvmlNoPermission = 4;
constexpr int kNvmlNotFound = 6;
constexpr int kNvmlInsufficientSize = 7;
constexpr unsigned kNvmlUuidBytes = 96;
constexpr unsigned kNvmlNameBytes = 96;
constexpr unsigned kNvmlVersionBytes = 80;

struct NvmlMemoryV1 {
    unsigned long long total, free, used;
};
struct NvmlMemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
constexpr unsigned kNvmlMemoryV2Version = sizeof(NvmlMemoryV2) | (2u << 24);

/// nvmlPciInfo_t
struct NvmlPci {
    char old_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

/// The result of nvmlDeviceGetComputeRunningProcesses_v2 and _v3, and of their kin for graphics and MPS.
struct NvmlProcess {
    unsigned pid;
    unsigned long long used_bytes;  ///< all ones: not known
    unsigned gpu_instance, compute_instance;
};

/// nvmlGetMemoryLimits_v1_t: what the driver limits a cgroup to.
struct NvmlMemoryLimits {
    const char* cgroup;                ///< in: the full path of its folder
    unsigned long long soft;           ///< out, bytes
    unsigned long long hard;           ///< out, bytes; kNvmlNoLimit if there is none
    unsigned long long current_bytes;  ///< out: what the cgroup has
};
constexpr unsigned long long kNvmlNoLimit = ~0ull;

/// nvmlProcessUtilizationSample_t; per cent.
struct NvmlUtilization {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};
/// nvmlProcessesUtilizationInfo_v1_t and its entries: the same from 550 on.
struct NvmlUtilizationInfo {
    unsigned long long time_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};
struct NvmlUtilizationList {
    unsigned version, count;
    unsigned long long after_us;
    NvmlUtilizationInfo* samples;
};
constexpr unsigned kNvmlUtilizationListVersion = sizeof(NvmlUtilizationList) | (1u << 24);

constexpr unsigned long long kNvmlEventXid = 8;  // nvmlEventTypeXidCriticalError

/// The result of nvmlEventSetWait_v2.
struct NvmlEvent {
    NvmlDevice device;
    unsigned long long type, data;  ///< data: of an Xid its number
    unsigned gpu_instance, compute_instance;
};

/// The functions in use; those that an old driver lacks are null.
struct NvmlLibrary {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*device_count)(unsigned*) = nullptr;
    int (*device_by_index)(unsigned, NvmlDevice*) = nullptr;
    int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
    int (*name)(NvmlDevice, char*, unsigned) = nullptr;
    int (*pci)(NvmlDevice, NvmlPci*) = nullptr;  ///< may be null
    int (*memory_v1)(NvmlDevice, NvmlMemoryV1*) = nullptr;
    int (*memory_v2)(NvmlDevice, NvmlMemoryV2*) = nullptr;  ///< may be null (driver < 510)
    using Processes = int (*)(NvmlDevice, unsigned* count, NvmlProcess*);
    Processes compute_processes = nullptr;
    Processes graphics_processes = nullptr;                       ///< may be null
    Processes mps_processes = nullptr;                            ///< clients of an MPS server; may be null
    int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;  ///< may be null (driver < 450)
    int (*compute_mode)(NvmlDevice, unsigned*) = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;               ///< may be null
    int (*persistence_mode)(NvmlDevice, unsigned*) = nullptr;       ///< may be null
    int (*memory_limits)(NvmlDevice, NvmlMemoryLimits*) = nullptr;  ///< may be null (driver < 615)
    /// Both may be null. The second one is null in drivers < 550.
    int (*utilization)(NvmlDevice, NvmlUtilization*, unsigned* count, unsigned long long after_us) = nullptr;
    int (*utilization_list)(NvmlDevice, NvmlUtilizationList*) = nullptr;
    // All four or none of them (driver < 450).
    int (*event_set_create)(NvmlEventSet*) = nullptr;
    int (*event_set_free)(NvmlEventSet) = nullptr;
    int (*register_events)(NvmlDevice, unsigned long long types, NvmlEventSet) = nullptr;
    int (*event_set_wait)(NvmlEventSet, NvmlEvent*, unsigned timeout_ms) = nullptr;

    /// dlopens libnvidia-ml.so.1 and looks up the functions. Error: the reason, for users.
    static tl::expected<NvmlLibrary, std::string> load();
    /// Call after shutdown(), or if init() failed; no function is called any more. The next load() finds the
    /// library that is installed then.
    void unload();

  private:
    void* library_ = nullptr;
};

}  // namespace cgpu::gpu
