// The front for NVML: a managed process is shown its instance's memory instead of the card's.
#include <dlfcn.h>

#include <algorithm>

#include "module/front/nvml_usage.hpp"
#include "module/front/paths.hpp"

#define CGPU_NVML_HOOK extern "C" __attribute__((visibility("default"))) int

using namespace cgpu::front;

namespace {

// Facts from nvml.h.
constexpr int kSuccess = 0;
constexpr int kNoPermission = 4;
constexpr int kFunctionNotFound = 13;
constexpr int kUnknown = 999;

using Device = struct nvmlDevice_st*;

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

template <class Function>
Function real(const char* name) {
    // Opened anew each time: it is loaded already, as what we depend on, and these calls are rare.
    void* library = dlopen(kRealNvml, RTLD_NOW | RTLD_LOCAL);
    return library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

/// What the instance has of this device's memory; otherwise what to answer.
int usage_of(Device device, MemoryUsage& usage) {
    const auto get_uuid = real<int (*)(Device, char*, unsigned)>("nvmlDeviceGetUUID");
    char text[96] = {};
    if (get_uuid == nullptr || get_uuid(device, text, sizeof text) != kSuccess) return kUnknown;
    switch (instance_memory(text, usage)) {
        case Found::limited:
        case Found::unlimited:
            return kSuccess;
        case Found::foreign:
            return kNoPermission;
        case Found::no_daemon:
            return kUnknown;
    }
    return kUnknown;
}

template <class Info>
int memory_info(const char* name, Device device, Info* info) {
    const auto function = real<int (*)(Device, Info*)>(name);
    if (function == nullptr) return kFunctionNotFound;
    const int result = function(device, info);
    if (result != kSuccess || info == nullptr) return result;
    MemoryUsage usage;
    if (const int refused = usage_of(device, usage); refused != kSuccess) {
        info->total = info->free = info->used = 0;
        return refused;
    }
    if (!usage.limited) return result;
    info->total = usage.limit_bytes;
    info->used = std::min(usage.used_bytes, usage.limit_bytes);
    info->free = info->total - info->used;
    if constexpr (requires { info->reserved; }) info->reserved = 0;
    return result;
}

}  // namespace

CGPU_NVML_HOOK nvmlDeviceGetMemoryInfo(Device device, Memory* info) {
    return memory_info("nvmlDeviceGetMemoryInfo", device, info);
}

CGPU_NVML_HOOK nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* info) {
    return memory_info("nvmlDeviceGetMemoryInfo_v2", device, info);
}
