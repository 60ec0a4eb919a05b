#include "client/load/driver.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace cgpu::load {
namespace {

template <class Call>
void find(void* library, const char* name, Call& call) {
    void* found = dlsym(library, name);
    if (found == nullptr)
        throw std::runtime_error(std::string("libcuda.so.1 has no ") + name +
                                 ". Try: install a driver of version 470 or later.");
    call = reinterpret_cast<Call>(found);
}

}  // namespace

Driver open_driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr)
        throw std::runtime_error(std::string("no CUDA driver: ") + dlerror() + ". Try: nvidia-smi.");
    Driver driver{};
    find(library, "cuInit", driver.init);
    find(library, "cuDevicePrimaryCtxRetain", driver.retain_context);
    find(library, "cuCtxSetCurrent", driver.set_context);
    find(library, "cuModuleLoadData", driver.load_module);
    find(library, "cuModuleGetFunction", driver.get_function);
    find(library, "cuStreamCreate", driver.create_stream);
    find(library, "cuEventCreate", driver.create_event);
    find(library, "cuEventRecord", driver.record);
    find(library, "cuEventSynchronize", driver.wait_for);
    find(library, "cuLaunchKernel", driver.launch);
    find(library, "cuGetErrorName", driver.error_name);
    return driver;
}

std::string error_name(const Driver& driver, int error) {
    const char* name = nullptr;
    return driver.error_name(error, &name) == 0 && name != nullptr ? name : std::to_string(error);
}

}  // namespace cgpu::load
