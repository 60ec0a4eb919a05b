#include <algorithm>
#include <cstring>
#include <string_view>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/function_table.hpp"

using namespace simgpu;

namespace {

/// Returns the newest form up to `version`, and a per-thread form where it is requested and exists.
const FunctionEntry* find_function(std::string_view name, int version, bool per_thread, bool& known) {
    const FunctionEntry* best = nullptr;
    for (std::size_t i = 0; i < kFunctionTableSize; ++i) {
        const FunctionEntry& entry = kFunctionTable[i];
        if (name != entry.name) continue;
        known = true;
        if (entry.version > version || (entry.variant == StreamVariant::per_thread && !per_thread)) continue;
        const bool better_variant =
            best && best->variant == StreamVariant::legacy && entry.variant == StreamVariant::per_thread;
        const bool worse_variant =
            best && best->variant == StreamVariant::per_thread && entry.variant == StreamVariant::legacy;
        if (!best || better_variant || (!worse_variant && entry.version > best->version)) best = &entry;
    }
    return best;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    if (!symbol || !pfn || version > CUDA_VERSION || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool known = false;
    const FunctionEntry* found =
        find_function(symbol, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, known);
    *pfn = found ? reinterpret_cast<void*>(found->function) : nullptr;
    if (status) {
        *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int version, cuuint64_t flags) {
    const CUresult result = cuGetProcAddress_v2(symbol, pfn, version, flags, nullptr);
    if (result != CUDA_SUCCESS) return result;
    return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
