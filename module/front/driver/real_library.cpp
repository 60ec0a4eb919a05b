#include "module/front/driver/real_library.hpp"

#include <dlfcn.h>

#include <atomic>

namespace cgpu::front {
namespace {

constinit std::atomic<void*> library{nullptr};

}  // namespace

bool has_real_library() { return library.load(std::memory_order_relaxed) != nullptr; }

void* real_address(const char* name) {
    void* handle = library.load(std::memory_order_acquire);
    if (handle == nullptr) {
        // Two threads may both open it: they get the same handle.
        handle = open_real_library();
        if (handle == nullptr) return nullptr;
        library.store(handle, std::memory_order_release);
    }
    return dlsym(handle, name);
}

}  // namespace cgpu::front
