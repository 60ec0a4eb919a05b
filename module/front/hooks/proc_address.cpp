#include "module/front/hooks/hook.hpp"
#include "module/generate/hook_table.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuGetProcAddress, const char*, void**, int, std::uint64_t)
CGPU_REAL(cuGetProcAddress_v2, const char*, void**, int, std::uint64_t, int*)
}  // namespace cgpu::front::real

namespace {

/// Replaces the function that the driver found by our hook, if there is one. `ask_at` looks up the same name
/// at another version.
template <class AskAt>
void substitute(const char* name, void** function, int version, std::uint64_t flags, AskAt ask_at) {
    if (name == nullptr || function == nullptr || *function == nullptr) return;
    const int newest = cgpu::module::hook_table().newest_version;
    // The argument lists of newer versions are unknown: our hook is right only if the driver has nothing
    // newer.
    if (version > newest && ask_at(newest) != *function) return;
    const void* hook = cgpu::module::find_hook(name, version > newest ? newest : version, flags);
    if (hook != nullptr) *function = const_cast<void*>(hook);
}

}  // namespace

CGPU_HOOK cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
    const CUresult result = real::cuGetProcAddress(name, function, version, flags);
    if (result != kSuccess || inside_driver()) return result;
    substitute(name, function, version, flags, [&](int at) {
        void* found = nullptr;
        return real::cuGetProcAddress(name, &found, at, flags) == kSuccess ? found : nullptr;
    });
    return result;
}

CGPU_HOOK cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                              int* status) {
    const CUresult result = real::cuGetProcAddress_v2(name, function, version, flags, status);
    if (result != kSuccess || inside_driver()) return result;
    substitute(name, function, version, flags, [&](int at) {
        void* found = nullptr;
        int ignored = 0;
        return real::cuGetProcAddress_v2(name, &found, at, flags, &ignored) == kSuccess ? found : nullptr;
    });
    return result;
}
