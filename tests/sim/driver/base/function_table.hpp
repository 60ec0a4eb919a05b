#pragma once

#include <cstddef>

namespace simgpu {

enum class StreamVariant { legacy, per_thread };

struct FunctionEntry {
    const char* name;  ///< As cuGetProcAddress is asked for it.
    int version;       ///< CUDA version that introduced this form.
    StreamVariant variant;
    void (*function)();
};

/// All exported functions (generated from driver_api.txt).
extern const FunctionEntry kFunctionTable[];
extern const std::size_t kFunctionTableSize;

}  // namespace simgpu
