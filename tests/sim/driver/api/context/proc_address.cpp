// Look-ups of functions, as NVIDIA's drivers 470 to 550 were seen to answer them.
#include <algorithm>
#include <span>
#include <string_view>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/function_table.hpp"

using namespace simgpu;

namespace {

constexpr cuuint64_t kKnownFlags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

/// All forms of a function; empty: there is no such name.
std::span<const FunctionEntry> forms_of(std::string_view name) {
    const auto [first, last] = std::equal_range(kFunctionTable, kFunctionTable + kFunctionTableSize,
                                                FunctionEntry{name.data(), 0, {}, nullptr},
                                                [](const FunctionEntry& left, const FunctionEntry& right) {
                                                    return std::string_view(left.name) < right.name;
                                                });
    return {first, last};
}

/// The newest form up to `version`. If per-thread forms are requested, a function that has any is found as
/// one of these only, and so not at versions before them.
const FunctionEntry* newest_form(std::span<const FunctionEntry> forms, unsigned version, bool per_thread) {
    const auto has_variant = [](const FunctionEntry& each) {
        return each.variant == StreamVariant::per_thread;
    };
    const bool wanted = per_thread && std::any_of(forms.begin(), forms.end(), has_variant);
    const FunctionEntry* newest = nullptr;
    for (const FunctionEntry& each : forms)
        if (has_variant(each) == wanted && each.version <= version &&
            (!newest || each.version > newest->version))
            newest = &each;
    return newest;
}

struct Answer {
    CUdriverProcAddressQueryResult status;
    void* function;
};

/// Versions are unsigned: -1 is newer than all.
Answer look_up(const char* symbol, unsigned version, cuuint64_t flags) {
    const auto forms = forms_of(symbol);
    if (forms.empty()) return {CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, nullptr};
    const FunctionEntry* form =
        newest_form(forms, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
    if (!form) return {CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, nullptr};
    return {CU_GET_PROC_ADDRESS_SUCCESS, reinterpret_cast<void*>(form->function)};
}

bool is_valid(const char* symbol, void** pfn, cuuint64_t flags) {
    return symbol && pfn && (flags & ~kKnownFlags) == 0;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    if (!is_valid(symbol, pfn, flags)) return CUDA_ERROR_INVALID_VALUE;
    const Answer answer = look_up(symbol, static_cast<unsigned>(version), flags);
    *pfn = answer.function;
    if (status) *status = answer.status;
    return CUDA_SUCCESS;
}

/// It leaves the program's pointer alone where it finds nothing.
CUresult cuGetProcAddress(const char* symbol, void** pfn, int version, cuuint64_t flags) {
    if (!is_valid(symbol, pfn, flags)) return CUDA_ERROR_INVALID_VALUE;
    const Answer answer = look_up(symbol, static_cast<unsigned>(version), flags);
    if (answer.function) *pfn = answer.function;
    return answer.function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
