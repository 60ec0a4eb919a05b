// The driver's look-ups. They know four functions; from version 20000 on there is a form of cuMemAlloc that
// the driver doesn't export.
#include <string_view>

#include "tests/unit/module/front/support/front_driver.hpp"

API cuDriverGetVersion(int*);
API cuMemAlloc_v2(std::uint64_t*, std::size_t);
API cuGetProcAddress(const char*, void**, int, std::uint64_t);
API cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);

namespace {

int of_tomorrow() { return fake::kSuccess; }

template <class Function>
void* at(Function* function) {
    return reinterpret_cast<void*>(function);
}

void* found(std::string_view name, int version) {
    if (name == "cuMemAlloc" && version >= 20000) return at(of_tomorrow);
    if (name == "cuMemAlloc" && version >= 3020) return at(cuMemAlloc_v2);
    if (name == "cuDriverGetVersion") return at(cuDriverGetVersion);
    if (name == "cuGetProcAddress") return version >= 12000 ? at(cuGetProcAddress_v2) : at(cuGetProcAddress);
    return nullptr;
}

}  // namespace

API cuGetProcAddress(const char* name, void** function, int version, std::uint64_t) {
    void* const answer = found(name, version);
    if (answer == nullptr) return 500;
    *function = answer;
    return fake::kSuccess;
}
API cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t, int* status) {
    *function = found(name, version);
    if (status != nullptr) *status = *function != nullptr ? 0 : 1;
    return fake::kSuccess;
}
