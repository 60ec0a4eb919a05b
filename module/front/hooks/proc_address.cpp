#include "module/front/driver/hook.hpp"
#include "module/generate/hook_table.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuGetProcAddress, const char*, void**, int, std::uint64_t)
CGPU_REAL(cuGetProcAddress_v2, const char*, void**, int, std::uint64_t, int*)
}  // namespace cgpu::front::real

namespace {

/// CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
constexpr int kSymbolNotFound = 1;

/// What to give the program for the function that the driver found; null if it must not get it.
void* given(const char* name, const void* found) {
    static constinit cgpu::module::HooksByAddress hooks{&cgpu::module::hook_table};
    return const_cast<void*>(hooks.answer(name, found, &real_address));
}

}  // namespace

// A look-up that is refused is answered as NVIDIA's drivers answer a name that they don't know: the older
// form fails and leaves the program's pointer as it was, the newer one succeeds, clears the pointer and says
// why in the status.

CGPU_HOOK cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
    void* const before = function != nullptr ? *function : nullptr;
    const CUresult result = real::cuGetProcAddress(name, function, version, flags);
    if (result != kSuccess || inside_driver() || name == nullptr || function == nullptr ||
        *function == nullptr)
        return result;
    void* const answer = given(name, *function);
    *function = answer != nullptr ? answer : before;
    return answer != nullptr ? kSuccess : kNotFound;
}

CGPU_HOOK cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                              int* status) {
    const CUresult result = real::cuGetProcAddress_v2(name, function, version, flags, status);
    if (result != kSuccess || inside_driver() || name == nullptr || function == nullptr ||
        *function == nullptr)
        return result;
    *function = given(name, *function);
    if (*function == nullptr && status != nullptr) *status = kSymbolNotFound;
    return kSuccess;
}
