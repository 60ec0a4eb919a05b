#include <cstddef>
#include <cstdio>
#include <cstring>

#include "tests/sim/device/layout/card_text.hpp"
#include "tests/sim/nvml/node.hpp"

using namespace simgpu;

namespace {

template <typename Matches>
nvmlReturn_t find_handle(nvmlDevice_t* handle, Matches matches) {
    const auto device = Node::device();
    if (!device) return NVML_ERROR_UNINITIALIZED;
    if (!handle) return NVML_ERROR_INVALID_ARGUMENT;
    for (std::uint32_t gpu = 0; gpu < device->gpu_count(); ++gpu) {
        if (!matches(device->card(gpu))) continue;
        *handle = handle_of(gpu);
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t answer_number(nvmlDevice_t handle, unsigned int* number) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!number) return NVML_ERROR_INVALID_ARGUMENT;
    *number = gpu;
    return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
    const auto device = Node::device();
    if (!device) return NVML_ERROR_UNINITIALIZED;
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    if (device->driver_is_gone()) return NVML_ERROR_DRIVER_NOT_LOADED;
    *count = device->gpu_count();
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* handle) {
    const auto device = Node::device();
    if (!device) return NVML_ERROR_UNINITIALIZED;
    if (!handle || index >= device->gpu_count()) return NVML_ERROR_INVALID_ARGUMENT;
    if (device->driver_is_gone()) return NVML_ERROR_DRIVER_NOT_LOADED;
    if (device->is_lost(index)) return NVML_ERROR_GPU_IS_LOST;
    *handle = handle_of(index);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* handle) {
    return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle) {
    if (!uuid) return NVML_ERROR_INVALID_ARGUMENT;
    return find_handle(handle, [uuid](const Card& card) { return uuid_text(card) == uuid; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* handle) {
    unsigned int domain = 0;
    unsigned int bus = 0;
    unsigned int slot = 0;
    if (!id || std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) return NVML_ERROR_INVALID_ARGUMENT;
    return find_handle(handle, [=](const Card& card) {
        return card.pci_domain == domain && card.pci_bus == bus && card.pci_device == slot;
    });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* id, nvmlDevice_t* handle) {
    return nvmlDeviceGetHandleByPciBusId_v2(id, handle);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned int length) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    return copy_text(device->card(gpu).name, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned int length) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    return copy_text(uuid_text(device->card(gpu)), uuid, length);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int* index) {
    return answer_number(handle, index);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned int* minor) {
    return answer_number(handle, minor);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
    const Card& card = device->card(gpu);
    *pci = nvmlPciInfo_t{};
    std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%s", pci_bus_id(card, 4).c_str());
    std::snprintf(pci->busId, sizeof pci->busId, "%s", pci_bus_id(card, 8).c_str());
    pci->domain = card.pci_domain;
    pci->bus = card.pci_bus;
    pci->device = card.pci_device;
    pci->pciDeviceId = card.pci_id;
    pci->pciSubSystemId = card.pci_id;
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t handle, nvmlPciInfoExt_v1_t* pci) {
    constexpr unsigned int kDisplayController = 3;
    constexpr unsigned int k3d = 2;
    nvmlPciInfo_t info;
    if (const nvmlReturn_t result = nvmlDeviceGetPciInfo_v3(handle, &info); result != NVML_SUCCESS)
        return result;
    if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
    if (pci->version != nvmlPciInfoExt_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    *pci = {pci->version,        info.domain,        info.bus, info.device, info.pciDeviceId,
            info.pciSubSystemId, kDisplayController, k3d,      {}};
    std::memcpy(pci->busId, info.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
    return nvmlDeviceGetPciInfo_v3(handle, pci);
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
    // The oldest form ends before busId.
    nvmlPciInfo_t whole;
    const nvmlReturn_t result = nvmlDeviceGetPciInfo_v3(handle, &whole);
    if (result == NVML_SUCCESS) std::memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
    return result;
}

}  // extern "C"
