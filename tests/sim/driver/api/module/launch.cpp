#include <algorithm>
#include <optional>

#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/event.hpp"
#include "tests/sim/driver/work/kernel_operation.hpp"
#include "tests/sim/driver/work/kernel_step.hpp"

using namespace simgpu;

namespace {

/// What a launch can request besides its shape.
struct Attributes {
    bool cooperative = false;
    std::optional<int> priority{};
    Event* at_start = nullptr;
    Event* at_end = nullptr;
};

CUresult read_event(CUevent handle, Event*& event) {
    event = from_handle<Event>(handle);
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult read_attributes(const CUlaunchConfig& config, Attributes& read) {
    if (config.numAttrs > 0 && !config.attrs) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    for (unsigned int i = 0; i < config.numAttrs && result == CUDA_SUCCESS; ++i) {
        const CUlaunchAttribute& attribute = config.attrs[i];
        switch (static_cast<int>(attribute.id)) {
            case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
                read.cooperative = attribute.value.cooperative != 0;
                break;
            case CU_LAUNCH_ATTRIBUTE_PRIORITY:
                read.priority = clamp_priority(attribute.value.priority);
                break;
            case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
                result = read_event(attribute.value.programmaticEvent.event, read.at_end);
                break;
            case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
                result = read_event(attribute.value.launchCompletionEvent.event, read.at_start);
                break;
            default:
                // Clusters, cache hints, synchronisation domains: nothing depends on them here.
                if (attribute.id < 0 || attribute.id >= CU_LAUNCH_ATTRIBUTE_MAX)
                    return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return result;
}

CUresult capture_launch(Stream& stream, CUfunction handle, const Shape& shape, unsigned int shared_bytes,
                        const Attributes& attributes, void** parameters, void** extra) {
    if (attributes.at_start || attributes.at_end)
        return lose_capture(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    KernelStep step{};
    const CUresult result = make_kernel_step(handle, shape, shared_bytes, parameters, extra, step);
    if (result != CUDA_SUCCESS) return result;
    step.cooperative = attributes.cooperative;
    step.priority = attributes.priority.value_or(stream.priority);
    return capture_step(stream, std::move(step));
}

/// The GPU gets a kernel at the end of the call that launches it.
void spend_the_call(const Context& context, Nanoseconds entered) {
    const Nanoseconds until = entered + context.runtime().card(context.ordinal()).launch_call;
    while (clock_now() < until) __builtin_ia32_pause();
}

CUresult launch(CUfunction handle, const Shape& shape, unsigned int shared_bytes, CUstream stream_handle,
                const Attributes& attributes, void** parameters, void** extra) {
    const Nanoseconds entered = clock_now();
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(stream_handle, stream); result != CUDA_SUCCESS)
        return result;
    const Function* function = from_handle<Function>(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!shape.valid() || (parameters && extra)) return CUDA_ERROR_INVALID_VALUE;
    if (attributes.cooperative && !fits_at_once(stream->context, shape))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (stream->is_captured())
        return capture_launch(*stream, handle, shape, shared_bytes, attributes, parameters, extra);
    const CUresult ready = stream->context.resources().own_memory.prepare(*function);
    if (ready != CUDA_SUCCESS) return ready;
    auto operation = kernel_operation(function->kernel, stream->context, parameters, extra);
    if (!operation) return CUDA_ERROR_INVALID_VALUE;
    if (attributes.priority) operation->priority = static_cast<std::int8_t>(*attributes.priority);
    spend_the_call(stream->context, entered);
    if (attributes.at_start) attributes.at_start->record(*stream);
    stream->context.submit(*stream, std::move(*operation));
    if (attributes.at_end) attributes.at_end->record(*stream);
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z,
                        unsigned int shared_bytes, CUstream stream, void** parameters, void** extra) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}}, shared_bytes, stream, {},
                  parameters, extra);
}
SIMGPU_PTSZ(cuLaunchKernel,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
             unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
             CUstream stream, void** parameters, void** extra),
            (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, per_thread(stream),
             parameters, extra))

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** parameters) {
    Attributes attributes;
    attributes.cooperative = true;
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}}, shared_bytes, stream,
                  attributes, parameters, nullptr);
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
    Attributes attributes;
    if (const CUresult result = read_attributes(*config, attributes); result != CUDA_SUCCESS) return result;
    const Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ}};
    return launch(function, shape, config->sharedMemBytes, config->hStream, attributes, parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig own = *config;
    own.hStream = per_thread(own.hStream);
    return cuLaunchKernelEx(&own, function, parameters, extra);
}

}  // extern "C"
