#include "tests/sim/driver/work/event.hpp"

#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult find_event(CUevent handle, Event*& event) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    event = from_handle<Event>(handle);
    return event ? event->context().error() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult record(CUevent handle, CUstream stream_handle, unsigned int flags) {
    Event* event = nullptr;
    if (const CUresult result = find_event(handle, event); result != CUDA_SUCCESS) return result;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(stream_handle, stream); result != CUDA_SUCCESS)
        return result;
    if (&stream->context != &event->context()) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->is_captured()) {
        if (flags & CU_EVENT_RECORD_EXTERNAL) return capture_step(*stream, RecordEventStep{event});
        CapturedRecording recording;
        const CUresult result = capture_record(*stream, recording);
        if (result == CUDA_SUCCESS) event->record_captured(std::move(recording));
        return result;
    }
    if (flags & CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    event->record(*stream);
    return CUDA_SUCCESS;
}

CUresult find_event_to_wait_for(CUevent handle, Event*& event) {
    const CUresult result = find_event(handle, event);
    return result == CUDA_SUCCESS ? check_wait(event->captured()) : result;
}

CUresult wait_in_capture(Stream& stream, Event& event, unsigned int flags) {
    if (flags & CU_EVENT_WAIT_EXTERNAL) return capture_step(stream, WaitEventStep{&event});
    if (!event.latest()) return CUDA_SUCCESS;
    return lose_capture(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* handle, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_stream_context(context); result != CUDA_SUCCESS) return result;
    if (!handle || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & CU_EVENT_INTERPROCESS) == 0) {
        *handle = reinterpret_cast<CUevent>(new Event(*context, flags));
        return CUDA_SUCCESS;
    }
    if ((flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
    Session session(context->runtime().device());
    const auto shared = IpcEvents(session).add(context->runtime().slot());
    if (!shared) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = reinterpret_cast<CUevent>(new Event(*context, flags, *shared, Event::Origin::made_here));
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
    Event* event = nullptr;
    if (const CUresult result = find_event(handle, event); result != CUDA_SUCCESS) return result;
    delete event;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

CUresult cuEventRecord(CUevent handle, CUstream stream) { return record(handle, stream, 0); }
SIMGPU_PTSZ(cuEventRecord, (CUevent handle, CUstream stream), (handle, per_thread(stream)))

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
    return flags > CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_INVALID_VALUE : record(handle, stream, flags);
}
SIMGPU_PTSZ(cuEventRecordWithFlags, (CUevent handle, CUstream stream, unsigned int flags),
            (handle, per_thread(stream), flags))

CUresult cuEventQuery(CUevent handle) {
    Event* event = nullptr;
    if (const CUresult result = find_event_to_wait_for(handle, event); result != CUDA_SUCCESS) return result;
    return event->is_done() ? event->context().error() : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
    Event* event = nullptr;
    if (const CUresult result = find_event_to_wait_for(handle, event); result != CUDA_SUCCESS) return result;
    Context& context = event->context();
    event->wait();
    context.runtime().synchronized();
    return context.error();
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
    Event* start = nullptr;
    Event* end = nullptr;
    if (const CUresult result = find_event(start_handle, start); result != CUDA_SUCCESS) return result;
    if (const CUresult result = find_event(end_handle, end); result != CUDA_SUCCESS) return result;
    if (start->captured().capture != 0 || end->captured().capture != 0) return CUDA_ERROR_CAPTURED_EVENT;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    const auto from = start->latest();
    const auto to = end->latest();
    if (!from || !to || !start->timed() || !end->timed()) return CUDA_ERROR_INVALID_HANDLE;
    if (!from->done || !to->done) start->context().runtime().observer().observe();
    if (!from->done || !to->done) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(static_cast<double>(to->time - from->time) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags) {
    Event* event = nullptr;
    if (const CUresult result = find_event(handle, event); result != CUDA_SUCCESS) return result;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(stream_handle, stream); result != CUDA_SUCCESS)
        return result;
    if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (const auto captured = event->captured(); captured.capture != 0)
        return capture_wait(*stream, captured);
    if (stream->is_captured()) return wait_in_capture(*stream, *event, flags);
    if (flags & CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    event->hold(*stream);
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuStreamWaitEvent, (CUstream stream, CUevent handle, unsigned int flags),
            (per_thread(stream), handle, flags))

}  // extern "C"
