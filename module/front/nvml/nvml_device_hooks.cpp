// The front for NVML: a managed process finds its instance's GPUs only, numbered from 0 in the driver's
// order, as in a container that has the device nodes of these GPUs alone. A GPU that the driver can't
// identify, because it is lost, is left out, too.
#include "module/front/nvml/nvml_abi.hpp"
#include "module/front/nvml/nvml_devices.hpp"
#include "module/front/nvml/nvml_usage.hpp"

using namespace cgpu::front;
using namespace cgpu::front::nvml;

namespace {

/// Whether the device is one of the instance's: kSuccess, or kNotFound, or the error that prevents the
/// answer.
int check_own(Device device) {
    const UuidText uuid(device);
    if (!uuid.known()) return uuid.why_unknown;
    switch (instance_has(uuid.text)) {
        case Found::limited:
        case Found::unlimited:
            return kSuccess;
        case Found::foreign:
            return kNotFound;
        case Found::no_daemon:
            return kUnknown;
    }
    return kUnknown;
}

/// Calls each(device, driver's index) for the instance's GPUs, in the driver's order, until it returns false.
/// Returns the driver's error if it can't count them.
template <class Each>
int for_each_own(Each each) {
    const auto count_all = real<int (*)(unsigned*)>("nvmlDeviceGetCount_v2");
    const auto handle_of = real<int (*)(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2");
    if (count_all == nullptr || handle_of == nullptr) return kFunctionNotFound;
    unsigned count = 0;
    if (const int result = count_all(&count); result != kSuccess) return result;
    for (unsigned i = 0; i < count; ++i) {
        Device device = nullptr;
        if (handle_of(i, &device) != kSuccess) continue;
        const int own = check_own(device);
        if (own == kUnknown) return own;
        if (own == kSuccess && !each(device, i)) break;
    }
    return kSuccess;
}

int count_own(unsigned* count) {
    unsigned own = 0;
    const int result = for_each_own([&](Device, unsigned) { return ++own, true; });
    if (result != kSuccess) return result;
    if (count == nullptr) return kInvalidArgument;
    *count = own;
    return kSuccess;
}

int own_by_index(unsigned index, Device* device) {
    Device found = nullptr;
    const int result = for_each_own([&](Device own, unsigned) {
        if (index-- > 0) return true;
        found = own;
        return false;
    });
    if (result != kSuccess) return result;
    if (device == nullptr || found == nullptr) return kInvalidArgument;
    *device = found;
    return kSuccess;
}

/// A look-up of the driver by a name of a GPU.
template <class Name>
int own_by(const char* function, Name name, Device* device) {
    const auto find = real<int (*)(Name, Device*)>(function);
    if (find == nullptr) return kFunctionNotFound;
    if (device == nullptr) return find(name, nullptr);
    Device found = nullptr;
    const int result = find(name, &found);
    if (result != kSuccess) return result;
    if (const int own = check_own(found); own != kSuccess) return own;
    *device = found;
    return kSuccess;
}

}  // namespace

int cgpu::front::nvml::driver_index_of(unsigned own, unsigned& index) {
    bool found = false;
    const int result = for_each_own([&](Device, unsigned i) {
        if (own-- > 0) return true;
        index = i;
        found = true;
        return false;
    });
    return result != kSuccess || found ? result : kInvalidArgument;
}

CGPU_NVML_HOOK nvmlDeviceGetCount(unsigned* count) { return count_own(count); }
CGPU_NVML_HOOK nvmlDeviceGetCount_v2(unsigned* count) { return count_own(count); }

CGPU_NVML_HOOK nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
    return own_by_index(index, device);
}
CGPU_NVML_HOOK nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
    return own_by_index(index, device);
}

CGPU_NVML_HOOK nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
    return own_by("nvmlDeviceGetHandleByUUID", uuid, device);
}
CGPU_NVML_HOOK nvmlDeviceGetHandleByUUIDV(const void* uuid, Device* device) {
    return own_by("nvmlDeviceGetHandleByUUIDV", uuid, device);
}
CGPU_NVML_HOOK nvmlDeviceGetHandleBySerial(const char* serial, Device* device) {
    return own_by("nvmlDeviceGetHandleBySerial", serial, device);
}
CGPU_NVML_HOOK nvmlDeviceGetHandleByPciBusId(const char* id, Device* device) {
    return own_by("nvmlDeviceGetHandleByPciBusId", id, device);
}
CGPU_NVML_HOOK nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* device) {
    return own_by("nvmlDeviceGetHandleByPciBusId_v2", id, device);
}

CGPU_NVML_HOOK nvmlDeviceGetIndex(Device device, unsigned* index) {
    const auto function = real<int (*)(Device, unsigned*)>("nvmlDeviceGetIndex");
    if (function == nullptr) return kFunctionNotFound;
    unsigned unused = 0;
    const int good = function(device, index == nullptr ? nullptr : &unused);
    if (good != kSuccess || index == nullptr) return good;
    unsigned place = 0;
    bool found = false;
    const int result = for_each_own([&](Device own, unsigned) {
        found = own == device;
        place += found ? 0 : 1;
        return !found;
    });
    if (result != kSuccess) return result;
    if (!found) return kNotFound;
    *index = place;
    return kSuccess;
}
