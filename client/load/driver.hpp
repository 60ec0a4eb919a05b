#pragma once

#include <string>

/// The part of NVIDIA's driver API that the load needs, looked up at run time: neither headers nor the driver
/// are available when this is built. Types and numbers are those of the driver API
/// (docs.nvidia.com/cuda/cuda-driver-api).
namespace cgpu::load {

using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;

struct Driver {
    int (*init)(unsigned int);
    int (*retain_context)(Context*, int);
    int (*set_context)(Context);
    int (*load_module)(Module*, const void*);
    int (*get_function)(Function*, Module, const char*);
    int (*create_stream)(Stream*, unsigned int);
    int (*create_event)(Event*, unsigned int);
    int (*record)(Event, Stream);
    int (*wait_for)(Event);
    int (*launch)(Function, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                  unsigned int, unsigned int, Stream, void**, void**);
    int (*error_name)(int, const char**);
};

/// Throws std::runtime_error with a sentence if libcuda.so.1 or one of the functions is missing.
[[nodiscard]] Driver open_driver();
/// `CUDA_ERROR_OUT_OF_MEMORY`; the number if the driver has no name for it.
[[nodiscard]] std::string error_name(const Driver& driver, int error);

}  // namespace cgpu::load
