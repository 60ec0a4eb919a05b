#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy.hpp"

using namespace simgpu;

namespace {

CUstream handle_of(Stream* stream) { return reinterpret_cast<CUstream>(stream); }

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned int flags, int priority) {
    Context* context = nullptr;
    if (const CUresult result = current_stream_context(context); result != CUDA_SUCCESS) return result;
    if (!handle || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of(context->create_stream(flags, clamp_priority(priority)));
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* handle, unsigned int flags) {
    return cuStreamCreateWithPriority(handle, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    Stream* stream = nullptr;
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    stream->context.destroy_stream(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamQuery(CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_to_wait_for(handle, stream); result != CUDA_SUCCESS)
        return result;
    const std::uint64_t tail = stream->queue.tail();
    if (tail == 0) return CUDA_SUCCESS;
    if (!stream->context.runtime().observer().has_completed(stream->queue, tail - 1))
        return CUDA_ERROR_NOT_READY;
    return stream->context.error();
}
SIMGPU_PTSZ(cuStreamQuery, (CUstream handle), (per_thread(handle)))

CUresult cuStreamSynchronize(CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_to_wait_for(handle, stream); result != CUDA_SUCCESS)
        return result;
    Runtime& runtime = stream->context.runtime();
    const bool is_legacy = stream == &stream->context.legacy_stream();
    if (is_legacy) {
        // It stands for all blocking streams: an operation in it begins after theirs.
        const CUresult result = wait_for(*stream, stream->context.submit(*stream, Operation{}));
        runtime.synchronized();
        return result;
    }
    const std::uint64_t tail = stream->queue.tail();
    if (tail > 0) runtime.observer().wait(stream->queue, tail - 1);
    runtime.synchronized();
    return stream->context.error();
}
SIMGPU_PTSZ(cuStreamSynchronize, (CUstream handle), (per_thread(handle)))

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = reinterpret_cast<CUcontext>(&stream->context);
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamGetCtx, (CUstream handle, CUcontext* context), (per_thread(handle), context))

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamGetFlags, (CUstream handle, unsigned int* flags), (per_thread(handle), flags))

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamGetPriority, (CUstream handle, int* priority), (per_thread(handle), priority))

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id;
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamGetId, (CUstream handle, unsigned long long* id), (per_thread(handle), id))

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = static_cast<CUdevice>(stream->context.ordinal());
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamGetDevice, (CUstream handle, CUdevice* device), (per_thread(handle), device))

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_captured()) return capture_step(*stream, HostStep{function, data});
    stream->context.runtime().host_functions().submit(*stream, [function, data] { function(data); });
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuLaunchHostFunc, (CUstream handle, CUhostFn function, void* data),
            (per_thread(handle), function, data))

/// How the host's thread waits for the GPU makes no difference here.
CUresult cuLaunchHostFunc_v2(CUstream handle, CUhostFn function, void* data, unsigned int mode) {
    return mode > 1 ? CUDA_ERROR_INVALID_VALUE : cuLaunchHostFunc(handle, function, data);
}
SIMGPU_PTSZ(cuLaunchHostFunc_v2, (CUstream handle, CUhostFn function, void* data, unsigned int mode),
            (per_thread(handle), function, data, mode))

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (stream->is_captured()) return lose_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Context& context = stream->context;
    context.runtime().host_functions().submit(
        *stream, [&context, handle, callback, data] { callback(handle, context.error(), data); });
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamAddCallback, (CUstream handle, CUstreamCallback callback, void* data, unsigned int flags),
            (per_thread(handle), callback, data, flags))

}  // extern "C"
