#include "tests/sim/nvml/node.hpp"

using namespace simgpu;

namespace {

/// Answers one number that depends on the card's mode only.
template <typename Number, typename Make>
nvmlReturn_t answer_mode(nvmlDevice_t handle, Number* number, Make make) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!number) return NVML_ERROR_INVALID_ARGUMENT;
    *number = static_cast<Number>(make(device->mode(gpu)));
    return NVML_SUCCESS;
}

/// By NVIDIA's numbers.
int compute_mode_of(GpuMode mode) {
    switch (mode) {
        case GpuMode::exclusive:
            return 3;
        case GpuMode::prohibited:
            return 2;
        case GpuMode::normal:
        case GpuMode::mig:
        case GpuMode::fleeting:
            return 0;
    }
    return 0;
}

/// Answers one number that depends on the card only.
template <typename Number, typename Make>
nvmlReturn_t answer(nvmlDevice_t handle, Number* number, Make make) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!number) return NVML_ERROR_INVALID_ARGUMENT;
    *number = static_cast<Number>(make(device->card(gpu)));
    return NVML_SUCCESS;
}

nvmlReturn_t clock_of(nvmlDevice_t handle, nvmlClockType_t type, unsigned int* mhz) {
    if (type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
    return answer(handle, mhz, [type](const Card& card) {
        return type == NVML_CLOCK_MEM ? card.memory_clock_mhz : card.clock_mhz;
    });
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, int* mode) {
    return answer_mode(handle, mode, &compute_mode_of);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, int* mode) {
    return answer_mode(handle, mode, [](GpuMode set) { return set == GpuMode::fleeting ? 0 : 1; });
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned int* current, unsigned int* pending) {
    const auto is_on = [](GpuMode set) { return set == GpuMode::mig ? 1 : 0; };
    if (const nvmlReturn_t result = answer_mode(handle, current, is_on); result != NVML_SUCCESS)
        return result;
    return answer_mode(handle, pending, is_on);
}

/// No field is supported. The call succeeds and each field has its own result, which programs read.
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, nvmlFieldValue_t* values) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (!values || count <= 0) return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i)
        values[i] = {values[i].fieldId, values[i].scopeId, 0, 0, 0, NVML_ERROR_NOT_SUPPORTED, 0};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned int* count) {
    return answer(handle, count, [](const Card&) { return 0; });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned int* is_mig) {
    return answer(handle, is_mig, [](const Card&) { return 0; });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor) {
    if (const nvmlReturn_t result = answer(handle, major, [](const Card& card) { return card.cc_major; });
        result != NVML_SUCCESS) {
        return result;
    }
    return answer(handle, minor, [](const Card& card) { return card.cc_minor; });
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, int sensor, unsigned int* celsius) {
    if (sensor != 0) return NVML_ERROR_INVALID_ARGUMENT;
    return answer(handle, celsius, [](const Card&) { return 40; });
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned int* milliwatts) {
    return answer(handle, milliwatts, [](const Card& card) { return card.power_limit_watts * 250; });
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t handle, unsigned int* milliwatts) {
    return answer(handle, milliwatts, [](const Card& card) { return card.power_limit_watts * 1000; });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t handle, unsigned int* milliwatts) {
    return nvmlDeviceGetEnforcedPowerLimit(handle, milliwatts);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t handle, int* state) {
    return answer(handle, state, [](const Card&) { return 0; });
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned int* mhz) {
    return clock_of(handle, type, mhz);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned int* mhz) {
    return clock_of(handle, type, mhz);
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t handle, unsigned int* bits) {
    return answer(handle, bits, [](const Card& card) { return card.memory_bus_bits; });
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t handle, int* active) {
    return answer(handle, active, [](const Card&) { return 0; });
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t handle, int* mode) {
    return answer(handle, mode, [](const Card&) { return 0; });
}

}  // extern "C"
