#include "tests/sim/nvml/node.hpp"

#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/device/file/device_path.hpp"

namespace simgpu {

namespace {

std::mutex node_mutex;
int initializations = 0;
std::shared_ptr<Device> the_device;

// node_mutex is held from before the fork until after it on both sides, so the_device stays what it is.
void before_fork() {
    node_mutex.lock();
    if (the_device) the_device->before_fork();
}
void after_fork_in_parent() {
    if (the_device) the_device->after_fork_in_parent();
    node_mutex.unlock();
}
void after_fork_in_child() {
    if (the_device) the_device->after_fork_in_child();
    node_mutex.unlock();
}

// When the library is loaded: a fork that has begun asks no handler that is registered meanwhile.
__attribute__((constructor)) void handle_forks() {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

nvmlReturn_t Node::initialize() {
    const std::lock_guard lock(node_mutex);
    if (!the_device) {
        the_device = Device::open(device_path());
        if (!the_device) return errno == EACCES ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_DRIVER_NOT_LOADED;
        if (the_device->driver_is_gone()) {
            the_device.reset();
            return NVML_ERROR_DRIVER_NOT_LOADED;
        }
    }
    ++initializations;
    return NVML_SUCCESS;
}

nvmlReturn_t Node::shut_down() {
    const std::lock_guard lock(node_mutex);
    if (initializations == 0) return NVML_ERROR_UNINITIALIZED;
    if (--initializations == 0) the_device.reset();
    return NVML_SUCCESS;
}

std::shared_ptr<Device> Node::device() {
    const std::lock_guard lock(node_mutex);
    return the_device;
}

nvmlDevice_t handle_of(std::uint32_t gpu) { return at_address<nvmlDevice_st>(std::uint64_t{gpu} + 1); }

nvmlReturn_t find_gpu(nvmlDevice_t handle, std::shared_ptr<Device>& device, std::uint32_t& gpu) {
    device = Node::device();
    if (!device) return NVML_ERROR_UNINITIALIZED;
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    if (number == 0 || number > device->gpu_count()) return NVML_ERROR_INVALID_ARGUMENT;
    gpu = static_cast<std::uint32_t>(number - 1);
    if (device->driver_is_gone()) return NVML_ERROR_DRIVER_NOT_LOADED;
    return device->is_lost(gpu) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t copy_text(const std::string& text, char* to, unsigned int length) {
    if (!to) return NVML_ERROR_INVALID_ARGUMENT;
    if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return NVML_SUCCESS;
}

}  // namespace simgpu
