// Events: of Xids only.
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/sim/nvml/node.hpp"

struct nvmlEventSet_st {
    std::mutex mutex;
    std::uint64_t next = 0;  // of the device's records
    std::uint32_t gpus = 0;  // a bit for each that is registered
};

using namespace simgpu;

namespace {

constexpr unsigned long long kXid = nvmlEventTypeXidCriticalError;
constexpr std::chrono::milliseconds kLookEvery{1};

/// Returns the next record of a registered GPU. Records that were overwritten meanwhile are lost, as in a
/// real event queue that is full.
bool take_next(nvmlEventSet_st& set, const Layout& layout, nvmlEventData_t& data) {
    const std::lock_guard lock(set.mutex);
    const std::uint64_t end = layout.xid_count.load();
    if (end - set.next > kMaxXids) set.next = end - kMaxXids;
    while (set.next < end) {
        const XidRecord record = layout.xids[set.next++ % kMaxXids];
        if ((set.gpus >> record.gpu & 1U) == 0) continue;
        data = {handle_of(record.gpu), kXid, record.code, ~0U, ~0U};
        return true;
    }
    return false;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, unsigned long long* types) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!types) return NVML_ERROR_INVALID_ARGUMENT;
    *types = kXid;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, unsigned long long types, nvmlEventSet_t set) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    if ((types & ~kXid) != 0) return NVML_ERROR_NOT_SUPPORTED;
    const std::lock_guard lock(set->mutex);
    // Errors that were reported before are not returned.
    if (set->gpus == 0) set->next = device->layout().xid_count.load();
    if ((types & kXid) != 0) set->gpus |= 1U << gpu;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
    if (!Node::device()) return NVML_ERROR_UNINITIALIZED;
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    *set = new nvmlEventSet_st;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    delete set;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeout_ms) {
    const auto device = Node::device();
    if (!device) return NVML_ERROR_UNINITIALIZED;
    if (!set || !data) return NVML_ERROR_INVALID_ARGUMENT;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!take_next(*set, device->layout(), *data)) {
        if (std::chrono::steady_clock::now() >= until) return NVML_ERROR_TIMEOUT;
        std::this_thread::sleep_for(kLookEvery);
    }
    return NVML_SUCCESS;
}

}  // extern "C"
