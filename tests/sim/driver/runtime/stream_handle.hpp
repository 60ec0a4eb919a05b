#pragma once

#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/graph/transfer.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

/// Returns the stream of a handle: NULL and CU_STREAM_LEGACY are the current context's legacy default stream,
/// CU_STREAM_PER_THREAD is the calling thread's own. @return the result of the call where there is none.
inline CUresult find_stream(CUstream handle, Stream*& stream) {
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        Context* context = nullptr;
        if (const CUresult result = current_stream_context(context); result != CUDA_SUCCESS) return result;
        stream = handle == CU_STREAM_PER_THREAD ? &context->per_thread_stream() : &context->legacy_stream();
        return CUDA_SUCCESS;
    }
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    stream = from_handle<Stream>(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return stream->context.is_open() ? stream->context.error() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/// Returns the stream to which a call adds work; see check_work().
inline CUresult find_stream_for_work(CUstream handle, Stream*& stream) {
    const CUresult result = find_stream(handle, stream);
    return result == CUDA_SUCCESS ? check_work(*stream) : result;
}

/// The same for a call that waits for its work, which must be allowed; see check_wait().
inline CUresult find_stream_for_work(CUstream handle, Completion completion, Stream*& stream) {
    const CUresult result = find_stream_for_work(handle, stream);
    return result == CUDA_SUCCESS && completion == Completion::wait ? check_wait(*stream) : result;
}

/// Returns the stream that a call queries or waits for; see check_wait().
inline CUresult find_stream_to_wait_for(CUstream handle, Stream*& stream) {
    const CUresult result = find_stream(handle, stream);
    return result == CUDA_SUCCESS ? check_wait(*stream) : result;
}

/// What the handle means to a function's _ptsz form.
inline CUstream per_thread(CUstream handle) { return handle ? handle : CU_STREAM_PER_THREAD; }

}  // namespace simgpu

/// Defines name_ptsz: the same function, with NULL meaning the thread's own default stream.
#define SIMGPU_PTSZ(name, parameters, arguments) \
    CUresult name##_ptsz parameters { return name arguments; }
