#include "tests/sim/driver/work/kernel_step.hpp"

#include <algorithm>

#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

CUresult make_kernel_step(CUfunction handle, const Shape& shape, unsigned int shared_bytes, void** parameters,
                          void** extra, KernelStep& step) {
    Function* function = from_handle<Function>(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!shape.valid() || (parameters && extra)) return CUDA_ERROR_INVALID_VALUE;
    auto packed = pack_parameters(function->kernel, parameters, extra);
    if (!packed) return CUDA_ERROR_INVALID_VALUE;
    step = {function, shape, shared_bytes, false, 0, std::move(*packed)};
    return CUDA_SUCCESS;
}

bool fits_at_once(const Context& context, const Shape& shape) {
    const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
    const std::uint64_t per_multiprocessor = std::min<std::uint64_t>(32, kThreadsPerMultiprocessor / threads);
    const auto multiprocessors =
        static_cast<std::uint64_t>(context.runtime().card(context.ordinal()).sm_count);
    return shape.blocks() <= multiprocessors * per_multiprocessor;
}

}  // namespace simgpu
