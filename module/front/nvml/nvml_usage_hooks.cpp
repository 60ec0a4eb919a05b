// The front for NVML: a managed process sees its instance's memory and share of the GPU's time instead of the
// card's.
#include <algorithm>

#include "module/front/nvml/nvml_abi.hpp"
#include "module/front/nvml/nvml_usage.hpp"

using namespace cgpu::front;
using namespace cgpu::front::nvml;

namespace {

/// The instance's use of this device; otherwise the error to return.
int usage_of(Device device, Usage& usage) {
    const UuidText uuid(device);
    if (!uuid.known()) return uuid.why_unknown;
    switch (instance_usage(uuid.text, usage)) {
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
    Usage usage;
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

/// Whichever cgroup is asked for: no other limit holds for the caller's processes, and what other cgroups
/// have is nothing that they may see.
CGPU_NVML_HOOK nvmlDeviceGetMemoryLimits_v1(Device device, MemoryLimits* limits) {
    const auto function = real<int (*)(Device, MemoryLimits*)>("nvmlDeviceGetMemoryLimits_v1");
    if (function == nullptr) return kFunctionNotFound;
    if (limits == nullptr || limits->cgroup == nullptr) return function(device, limits);
    Usage usage;
    if (const int refused = usage_of(device, usage); refused != kSuccess) return refused;
    if (!usage.limited) return function(device, limits);
    limits->soft = limits->hard = usage.limit_bytes;
    limits->used = std::min(usage.used_bytes, usage.limit_bytes);
    return kSuccess;
}

/// Limits are the node's business. A root in a container could otherwise limit its neighbours' cgroups, as
/// far as it can name them.
CGPU_NVML_HOOK nvmlDeviceSetMemoryLimits_v1(Device device, void* /*limits*/) {
    if (real<void*>("nvmlDeviceSetMemoryLimits_v1") == nullptr) return kFunctionNotFound;
    const UuidText uuid(device);
    return uuid.known() ? kNoPermission : uuid.why_unknown;
}

CGPU_NVML_HOOK nvmlDeviceGetUtilizationRates(Device device, Rates* rates) {
    const auto function = real<int (*)(Device, Rates*)>("nvmlDeviceGetUtilizationRates");
    if (function == nullptr) return kFunctionNotFound;
    const int result = function(device, rates);
    if (result != kSuccess || rates == nullptr) return result;
    Usage usage;
    if (const int refused = usage_of(device, usage); refused != kSuccess) {
        *rates = {};
        // nvidia-smi shows "N/A" then, and "ERR!" for the other.
        return refused == kNoPermission ? kNotSupported : refused;
    }
    if (!usage.share) return result;
    rates->gpu = (*usage.share + 5) / 10;
    // The time in which memory is accessed isn't measured by instance. It is a part of the time in which
    // kernels run.
    rates->memory = std::min(rates->memory, rates->gpu);
    return result;
}
