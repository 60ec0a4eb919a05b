// Two cards as NVML shows them, for the NVML front's unit tests. The processes 1000 and 1010 belong to the
// test's instance (see listed_process); 5 and 9999 don't.
#include <cstring>
#include <iterator>

#include "module/front/nvml/nvml_abi.hpp"

using namespace cgpu::front::nvml;

#define API CGPU_NVML_HOOK

namespace {

constexpr unsigned long long kTotal = 16ull << 30;
constexpr unsigned long long kUsed = 5ull << 30;
constexpr unsigned long long kOfAProcess = 1ull << 30;
int cards[2];
bool initialised = false;

constexpr unsigned kPids[] = {5, 1010, 9999, 1000};

/// NVML's way to return lists; make(item, pid).
template <class Item, class Make>
int list(unsigned* count, Item* items, Make make) {
    if (count == nullptr) return 2;
    const unsigned room = *count;
    *count = std::size(kPids);
    if (items == nullptr || room < std::size(kPids)) return kInsufficientSize;
    for (const unsigned pid : kPids) {
        *items = {};
        make(*items++, pid);
    }
    return kSuccess;
}

template <class Item>
int list_processes(unsigned* count, Item* items) {
    return list(count, items, [](Item& item, unsigned pid) {
        item.pid = pid;
        item.used_bytes = kOfAProcess;
    });
}

}  // namespace

API nvmlInit_v2() {
    initialised = true;
    return 0;
}
API nvmlShutdown() {
    initialised = false;
    return 0;
}
/// The instance's card comes second.
API nvmlDeviceGetCount_v2(unsigned* count) {
    if (!initialised) return kUninitialized;
    *count = 2;
    return 0;
}
API nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
    if (index > 1) return kInvalidArgument;
    *device = &cards[1 - index];
    return 0;
}
/// Not a function of NVML: the instance's card, or the other one.
API testCard(unsigned card, Device* device) {
    *device = &cards[card];
    return 0;
}
API nvmlDeviceGetIndex(Device device, unsigned* index) {
    *index = device == &cards[0] ? 1 : 0;
    return 0;
}
API nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
    *device = &cards[std::strcmp(uuid, "GPU-11111111-1111-1111-1111-111111111111") == 0 ? 0 : 1];
    return 0;
}
API nvmlDeviceGetUUID(Device device, char* text, unsigned length) {
    if (!initialised) return kUninitialized;
    const char* uuid = device == &cards[0] ? "GPU-11111111-1111-1111-1111-111111111111"
                                           : "GPU-22222222-2222-2222-2222-222222222222";
    if (length <= std::strlen(uuid)) return kInsufficientSize;
    std::memcpy(text, uuid, std::strlen(uuid) + 1);
    return 0;
}
API nvmlDeviceGetMemoryInfo(Device, Memory* info) {
    *info = {kTotal, kTotal - kUsed, kUsed};
    return 0;
}
API nvmlDeviceGetMemoryInfo_v2(Device, MemoryV2* info) {
    *info = {info->version, kTotal, 1 << 20, kTotal - kUsed, kUsed};
    return 0;
}

API nvmlDeviceGetMemoryLimits_v1(Device, MemoryLimits* limits) {
    if (limits == nullptr || limits->cgroup == nullptr) return kInvalidArgument;
    limits->soft = kTotal / 4;
    limits->hard = kTotal / 2;
    limits->used = kUsed;
    return 0;
}
API nvmlDeviceSetMemoryLimits_v1(Device, void*) { return 0; }

API nvmlDeviceGetUtilizationRates(Device, Rates* rates) {
    if (!initialised) return kUninitialized;
    *rates = {80, 50};
    return 0;
}

API nvmlDeviceGetComputeRunningProcesses(Device, unsigned* count, ProcessV1* items) {
    return list_processes(count, items);
}
API nvmlDeviceGetComputeRunningProcesses_v2(Device, unsigned* count, ProcessV2* items) {
    return list_processes(count, items);
}
API nvmlDeviceGetGraphicsRunningProcesses_v2(Device, unsigned* count, ProcessV2* items) {
    return list_processes(count, items);
}
#ifdef CGPU_TEST_LONG_ENTRIES
API nvmlDeviceGetConfComputeMemSizeInfo(Device, void*) { return 0; }
API nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count, ProcessDetail* items) {
    return list_processes(count, items);
}
API nvmlDeviceGetGraphicsRunningProcesses_v3(Device, unsigned* count, ProcessDetail* items) {
    return list_processes(count, items);
}
#else
API nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count, ProcessV2* items) {
    return list_processes(count, items);
}
API nvmlDeviceGetGraphicsRunningProcesses_v3(Device, unsigned* count, ProcessV2* items) {
    return list_processes(count, items);
}
API nvmlDeviceGetRunningProcessDetailList(Device, ProcessDetailList* asked) {
    if (asked->mode > 2) return 2;
    return list_processes(&asked->count, asked->processes);
}
#endif
API nvmlDeviceGetProcessUtilization(Device, Utilization* samples, unsigned* count,
                                    unsigned long long after_us) {
    if (after_us > 100) return kNotFound;
    return list(count, samples, [](Utilization& sample, unsigned pid) {
        sample.pid = pid;
        sample.percents[0] = pid % 100;
    });
}
API nvmlDeviceGetProcessesUtilizationInfo(Device, UtilizationInfoList* asked) {
    return list(&asked->count, asked->samples,
                [](UtilizationInfo& sample, unsigned pid) { sample.pid = pid; });
}
API nvmlDeviceGetAccountingPids(Device, unsigned* count, unsigned* pids) {
    return list(count, pids, [](unsigned& item, unsigned pid) { item = pid; });
}
API nvmlDeviceGetAccountingStats(Device, unsigned pid, unsigned* stats) {
    if (!initialised) return kUninitialized;
    *stats = pid;
    return 0;
}
API nvmlDeviceGetEncoderSessions(Device, unsigned* count, EncoderSession* sessions) {
    return list(count, sessions, [](EncoderSession& session, unsigned pid) { session.pid = pid; });
}
