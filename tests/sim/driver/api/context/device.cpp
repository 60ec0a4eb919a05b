#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/sim/device/layout/card_text.hpp"
#include "tests/sim/driver/base/device_attributes.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

CUresult find_card(CUdevice device, const Card*& card) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    card = &runtime->card(static_cast<std::uint32_t>(device));
    return CUDA_SUCCESS;
}

CUresult copy_text(const std::string& text, char* to, int length) {
    if (!to || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(to, static_cast<std::size_t>(length), "%s", text.c_str());
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetCount(int* count) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(runtime->visible_count());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(ordinal, card); result != CUDA_SUCCESS) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    return copy_text(card->name, name, length);
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(uuid->bytes, card->uuid.data(), sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = card->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    const auto number = static_cast<int>(attribute);
    if (!value || number < 1 || number >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    *value = device_attribute(*card, number);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    return copy_text(pci_bus_id(*card, 4), text, length);
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    unsigned int domain = 0;
    unsigned int bus = 0;
    unsigned int slot = 0;
    if (!device || !text) return CUDA_ERROR_INVALID_VALUE;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) return CUDA_ERROR_INVALID_VALUE;
    for (std::uint32_t ordinal = 0; ordinal < runtime->visible_count(); ++ordinal) {
        const Card& card = runtime->card(ordinal);
        if (card.pci_domain != domain || card.pci_bus != bus || card.pci_device != slot) continue;
        *device = static_cast<CUdevice>(ordinal);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = card->cc_major;
    *minor = card->cc_minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (!properties) return CUDA_ERROR_INVALID_VALUE;
    *properties = CUdevprop{1024,
                            {1024, 1024, 64},
                            {2147483647, 65535, 65535},
                            49152,
                            65536,
                            32,
                            2147483647,
                            65536,
                            card->clock_mhz * 1000,
                            512};
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (const CUresult result = find_card(peer, card); result != CUDA_SUCCESS) return result;
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device,
                                 CUdevice peer) {
    const Card* card = nullptr;
    if (const CUresult result = find_card(device, card); result != CUDA_SUCCESS) return result;
    if (const CUresult result = find_card(peer, card); result != CUDA_SUCCESS) return result;
    if (!value || device == peer) return CUDA_ERROR_INVALID_VALUE;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
}

}  // extern "C"
