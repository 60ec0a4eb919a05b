// The front for NVML: a managed process sees its instance's processes, by the pids that it sees itself. The
// driver would show those of the whole card, in some versions by the host's pids.
#include "module/front/nvml/nvml_lists.hpp"

namespace wire = cgpu::wire;
using namespace cgpu::front;
using namespace cgpu::front::nvml;

namespace {

template <class Info>
Info info_of(const wire::ProcessUse& use) {
    Info info{};
    info.pid = use.pid;
    info.used_bytes = use.used_bytes;
    if constexpr (requires { info.gpu_instance; })
        info.gpu_instance = info.compute_instance = kNotPartitioned;
    return info;
}

/// The processes with a context: from the daemon. check() asks the driver whether the call is valid.
template <class Info, class Check>
int list_compute(Device device, unsigned* count, Info* to, Check check) {
    const int good = check();
    if ((good != kSuccess && good != kInsufficientSize) || count == nullptr) return good;
    ProcessList own;
    Buffer<Info> infos;
    int result = own_processes(device, own);
    if (result == kSuccess && !infos.grow(own.size())) result = kNoMemory;
    if (result != kSuccess) {
        *count = 0;
        return result;
    }
    std::ranges::transform(own, infos.data(), info_of<Info>);
    return hand_over(infos.data(), own.size(), count, to);
}

template <class Info>
int compute_processes(const char* name, Device device, unsigned* count, Info* infos) {
    const auto function = real<int (*)(Device, unsigned*, Info*)>(name);
    if (function == nullptr) return kFunctionNotFound;
    unsigned none = 0;
    return list_compute(device, count, infos,
                        [&] { return function(device, count == nullptr ? count : &none, nullptr); });
}

/// For graphics, MPS, and sessions: lists of the driver with a count and an array.
template <class Item>
int own_of(const char* name, Device device, unsigned* count, Item* items) {
    const auto function = real<int (*)(Device, unsigned*, Item*)>(name);
    if (function == nullptr) return kFunctionNotFound;
    return list_own(device, count, items,
                    [&](unsigned* room, Item* to) { return function(device, room, to); });
}

/// The answer to a version of a struct that the front doesn't know. A driver that knows it isn't asked: its
/// list would be the whole card's.
int unknown_version(Device device) {
    const UuidText uuid(device);
    return uuid.known() ? kVersionMismatch : uuid.why_unknown;
}

/// The first drivers for confidential computing (530) had a longer entry in the third version of the lists;
/// later the additional field got a list of its own.
bool has_long_entries() {
    return real<void*>("nvmlDeviceGetConfComputeMemSizeInfo") != nullptr &&
           real<void*>("nvmlDeviceGetRunningProcessDetailList") == nullptr;
}

}  // namespace

// One that `function` lists.
// NOLINTBEGIN(bugprone-macro-parentheses): types don't take any
#define CGPU_LIST(name, function, Item)                                \
    CGPU_NVML_HOOK name(Device device, unsigned* count, Item* items) { \
        return function(#name, device, count, items);                  \
    }
#define CGPU_LIST_V3(name, function)                                                                   \
    CGPU_NVML_HOOK name(Device device, unsigned* count, void* items) {                                 \
        return has_long_entries() ? function(#name, device, count, static_cast<ProcessDetail*>(items)) \
                                  : function(#name, device, count, static_cast<ProcessV2*>(items));    \
    }
// NOLINTEND(bugprone-macro-parentheses)

CGPU_LIST(nvmlDeviceGetComputeRunningProcesses, compute_processes, ProcessV1)
CGPU_LIST(nvmlDeviceGetComputeRunningProcesses_v2, compute_processes, ProcessV2)
CGPU_LIST_V3(nvmlDeviceGetComputeRunningProcesses_v3, compute_processes)
CGPU_LIST(nvmlDeviceGetGraphicsRunningProcesses, own_of, ProcessV1)
CGPU_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, own_of, ProcessV2)
CGPU_LIST_V3(nvmlDeviceGetGraphicsRunningProcesses_v3, own_of)
CGPU_LIST(nvmlDeviceGetMPSComputeRunningProcesses, own_of, ProcessV1)
CGPU_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, own_of, ProcessV2)
CGPU_LIST_V3(nvmlDeviceGetMPSComputeRunningProcesses_v3, own_of)
CGPU_LIST(nvmlDeviceGetEncoderSessions, own_of, EncoderSession)
CGPU_LIST(nvmlDeviceGetFBCSessions, own_of, CaptureSession)
CGPU_LIST(nvmlDeviceGetAccountingPids, own_of, unsigned)

CGPU_NVML_HOOK nvmlDeviceGetRunningProcessDetailList(Device device, ProcessDetailList* list) {
    const auto function = real<int (*)(Device, ProcessDetailList*)>("nvmlDeviceGetRunningProcessDetailList");
    if (function == nullptr) return kFunctionNotFound;
    if (list == nullptr) return function(device, list);
    if (list->version != ProcessDetailList::kVersion) return unknown_version(device);
    const auto fetch = [&](unsigned* room, ProcessDetail* to) {
        ProcessDetailList asked{list->version, list->mode, *room, to};
        const int result = function(device, &asked);
        *room = asked.count;
        return result;
    };
    if (list->mode != ProcessDetailList::kCompute)
        return list_own(device, &list->count, list->processes, fetch);
    unsigned none = 0;
    return list_compute(device, &list->count, list->processes, [&] { return fetch(&none, nullptr); });
}

CGPU_NVML_HOOK nvmlDeviceGetProcessUtilization(Device device, Utilization* samples, unsigned* count,
                                               unsigned long long after_us) {
    const auto function =
        real<int (*)(Device, Utilization*, unsigned*, unsigned long long)>("nvmlDeviceGetProcessUtilization");
    if (function == nullptr) return kFunctionNotFound;
    const int result = list_own(device, count, samples, [&](unsigned* room, Utilization* to) {
        return function(device, to, room, after_us);
    });
    return result == kSuccess && *count == 0 ? kNotFound : result;
}

CGPU_NVML_HOOK nvmlDeviceGetProcessesUtilizationInfo(Device device, UtilizationInfoList* list) {
    const auto function =
        real<int (*)(Device, UtilizationInfoList*)>("nvmlDeviceGetProcessesUtilizationInfo");
    if (function == nullptr) return kFunctionNotFound;
    if (list == nullptr) return function(device, list);
    if (list->version != UtilizationInfoList::kVersion) return unknown_version(device);
    const int result =
        list_own(device, &list->count, list->samples, [&](unsigned* room, UtilizationInfo* to) {
            UtilizationInfoList asked{list->version, *room, list->after_us, to};
            const int answer = function(device, &asked);
            *room = asked.count;
            return answer;
        });
    return result == kSuccess && list->count == 0 ? kNotFound : result;
}

CGPU_NVML_HOOK nvmlDeviceGetAccountingStats(Device device, unsigned pid, void* stats) {
    const auto function = real<int (*)(Device, unsigned, void*)>("nvmlDeviceGetAccountingStats");
    if (function == nullptr) return kFunctionNotFound;
    ProcessList own;
    if (const int refused = own_processes(device, own); refused != kSuccess) return refused;
    return own.find(pid) != nullptr ? function(device, pid, stats) : kNotFound;
}
