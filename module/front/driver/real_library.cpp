#include "module/front/driver/real_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

namespace cgpu::front {
namespace {

constinit std::atomic<void*> library{nullptr};
constinit std::atomic<bool> calls_front{true};

bool is_bound_to_itself(void* handle) {
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_ld == nullptr) return false;
    for (const auto* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_SYMBOLIC ||
            (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0))
            return true;
    return false;
}

}  // namespace

bool real_library_calls_front() { return calls_front.load(std::memory_order_relaxed); }

bool has_real_library() { return library.load(std::memory_order_relaxed) != nullptr; }

void* real_address(const char* name) {
    void* handle = library.load(std::memory_order_acquire);
    if (handle == nullptr) {
        // Two threads may both open it: they get the same handle.
        handle = open_real_library();
        if (handle == nullptr) return nullptr;
        prepare_library(handle);
        calls_front.store(!is_bound_to_itself(handle), std::memory_order_relaxed);
        library.store(handle, std::memory_order_release);
    }
    return dlsym(handle, name);
}

}  // namespace cgpu::front
