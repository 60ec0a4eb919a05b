#pragma once

#include "module/front/driver/real_library.hpp"

/// The part of NVML's binary interface that the front replaces, as facts of NVIDIA's public nvml.h; and the
/// driver's own functions.
namespace cgpu::front::nvml {

constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr int kFunctionNotFound = 13;
constexpr int kNoMemory = 20;
constexpr int kVersionMismatch = 25;
constexpr int kUnknown = 999;

constexpr unsigned kNotPartitioned = 0xFFFFFFFF;  ///< of a GPU without MIG

using Device = void*;

struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct MemoryV2 {
    unsigned version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40);

/// What the driver limits a cgroup to, from 615 on.
struct MemoryLimits {
    const char* cgroup;  ///< in: its folder
    unsigned long long soft;
    unsigned long long hard;
    unsigned long long used;
};
static_assert(sizeof(MemoryLimits) == 32);

struct ProcessV1 {
    unsigned pid;
    unsigned long long used_bytes;
};
static_assert(sizeof(ProcessV1) == 16);

struct ProcessV2 {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
};
static_assert(sizeof(ProcessV2) == 24);

struct ProcessDetail {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
    unsigned long long protected_bytes;  ///< for confidential computing
};
static_assert(sizeof(ProcessDetail) == 32);

struct ProcessDetailList {
    static constexpr unsigned kVersion = 24u | 1u << 24;
    static constexpr unsigned kCompute = 0;
    unsigned version;
    unsigned mode;
    unsigned count;
    ProcessDetail* processes;
};
static_assert(sizeof(ProcessDetailList) == 24);

struct Rates {
    unsigned gpu;  ///< percent, as memory
    unsigned memory;
};
static_assert(sizeof(Rates) == 8);

struct Utilization {
    unsigned pid;
    unsigned long long time_us;
    unsigned percents[4];
};
static_assert(sizeof(Utilization) == 32);

struct UtilizationInfo {
    unsigned long long time_us;
    unsigned pid;
    unsigned percents[6];
};
static_assert(sizeof(UtilizationInfo) == 40);

struct UtilizationInfoList {
    static constexpr unsigned kVersion = 24u | 1u << 24;
    unsigned version;
    unsigned count;
    unsigned long long after_us;
    UtilizationInfo* samples;
};
static_assert(sizeof(UtilizationInfoList) == 24);

struct EncoderSession {
    unsigned session;
    unsigned pid;
    unsigned rest[6];
};
static_assert(sizeof(EncoderSession) == 32);

struct CaptureSession {
    unsigned session;
    unsigned pid;
    unsigned rest[10];
};
static_assert(sizeof(CaptureSession) == 48);

/// The driver's function of that name, or null if it has none.
template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(real_address(name));
}

/// A device's UUID as text; empty if the driver doesn't report it.
struct UuidText {
    explicit UuidText(Device device) {
        const auto get = real<int (*)(Device, char*, unsigned)>("nvmlDeviceGetUUID");
        const int result = get != nullptr ? get(device, text, sizeof text) : kUnknown;
        if (result == kSuccess) return;
        text[0] = '\0';
        why_unknown = result;
    }
    [[nodiscard]] bool known() const { return text[0] != '\0'; }
    char text[96] = {};
    /// The driver's own error: what its other functions answer for such a device, too, as before nvmlInit.
    int why_unknown = kUnknown;
};

}  // namespace cgpu::front::nvml

#define CGPU_NVML_HOOK extern "C" __attribute__((visibility("default"))) int
