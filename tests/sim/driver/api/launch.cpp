#include "tests/sim/driver/module.hpp"
#include "tests/sim/driver/stream_handle.hpp"

using namespace simgpu;

namespace {

struct Shape {
    unsigned int grid[3];
    unsigned int block[3];

    bool valid() const {
        const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
        return grid[0] && grid[1] && grid[2] && threads > 0 && threads <= 1024;
    }
};

CUresult launch(CUfunction handle, const Shape& shape, CUstream stream_handle, void** parameters,
                void** extra) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(stream_handle, stream); result != CUDA_SUCCESS) return result;
    const Function* function = from_handle<Function>(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!shape.valid() || (parameters && extra)) return CUDA_ERROR_INVALID_VALUE;
    auto operation = kernel_operation(function->kernel, stream->context, parameters, extra);
    if (!operation) return CUDA_ERROR_INVALID_VALUE;
    const CUresult ready = stream->context.own_memory.prepare(function->module);
    if (ready != CUDA_SUCCESS) return ready;
    stream->context.submit(*stream, std::move(*operation));
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int,
                        CUstream stream, void** parameters, void** extra) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}}, stream, parameters,
                  extra);
}
SIMGPU_PTSZ(cuLaunchKernel,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
             unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
             CUstream stream, void** parameters, void** extra),
            (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, per_thread(stream),
             parameters, extra))

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int, CUstream stream, void** parameters) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}}, stream, parameters,
                  nullptr);
}
SIMGPU_PTSZ(cuLaunchCooperativeKernel,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
             unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
             CUstream stream, void** parameters),
            (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, per_thread(stream),
             parameters))

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    const Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ}};
    return launch(function, shape, config->hStream, parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig own = *config;
    own.hStream = per_thread(own.hStream);
    return cuLaunchKernelEx(&own, function, parameters, extra);
}

}  // extern "C"
