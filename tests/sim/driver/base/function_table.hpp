#pragma once

#include <cstddef>

namespace simgpu {

enum class StreamVariant { legacy, per_thread };

struct FunctionEntry {
    const char* name;  ///< As cuGetProcAddress is asked for it.
    unsigned version;  ///< CUDA version that introduced this form.
    StreamVariant variant;
    void (*function)();
};

/// The driver's CUDA version, and all functions that it exports, sorted by name (generated from
/// driver_api.txt).
extern const unsigned kCudaVersion;
extern const FunctionEntry kFunctionTable[];
extern const std::size_t kFunctionTableSize;

}  // namespace simgpu
