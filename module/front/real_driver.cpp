#include "module/front/real_driver.hpp"

#include <dlfcn.h>

#include "module/front/paths.hpp"

namespace cgpu::front {

namespace detail {
thread_local constinit int driver_depth __attribute__((tls_model("initial-exec"))) = 0;
}

void* real_address(const char* name) {
    static std::atomic<void*> library{nullptr};
    void* handle = library.load(std::memory_order_acquire);
    if (handle == nullptr) {
        // Two threads may both open it: they get the same handle, and it is never closed.
        handle = dlopen(kRealDriver, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) return nullptr;
        library.store(handle, std::memory_order_release);
    }
    return dlsym(handle, name);
}

}  // namespace cgpu::front
