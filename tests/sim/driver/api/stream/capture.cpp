#include "tests/sim/driver/graph/capture.hpp"

#include "tests/sim/driver/launch/graph_handle.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph* into, Front front) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    return begin_capture(*stream, mode, into, std::move(front));
}

CUresult read_status(CUstream handle, CUstreamCaptureStatus* status, CaptureInfo& info) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    if (is_blocked_by_capture(*stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    info = capture_info(*stream);
    *status = info.status;
    return CUDA_SUCCESS;
}

/// Holds the arrays that a call returns to the program; they are valid until the thread's next call of this
/// kind.
struct Shown {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
};

CUresult read_info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges, std::size_t* count) {
    CaptureInfo info;
    if (edges && !dependencies) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = read_status(handle, status, info); result != CUDA_SUCCESS) return result;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    thread_local Shown shown;
    shown = {};
    for (const Edge& edge : info.front) {
        shown.nodes.push_back(handle_of(edge.from));
        shown.edges.push_back(edge.data);
    }
    if (id) *id = info.id;
    if (graph) *graph = handle_of(info.graph);
    if (dependencies) *dependencies = shown.nodes.data();
    if (edges) *edges = shown.edges.data();
    if (count) *count = shown.nodes.size();
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    return begin(stream, mode, nullptr, {});
}
SIMGPU_PTSZ(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (per_thread(stream), mode))

CUresult cuStreamBeginCapture(CUstream stream) {
    return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {});
}
SIMGPU_PTSZ(cuStreamBeginCapture, (CUstream stream), (per_thread(stream)))

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* data, std::size_t count,
                                     CUstreamCaptureMode mode) {
    Graph* graph = from_handle<Graph>(handle);
    Front front;
    if (!graph || graph->is_captured_into || !read_edges(*graph, dependencies, data, count, front))
        return CUDA_ERROR_INVALID_VALUE;
    return begin(stream, mode, graph, std::move(front));
}
SIMGPU_PTSZ(cuStreamBeginCaptureToGraph,
            (CUstream stream, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
             std::size_t count, CUstreamCaptureMode mode),
            (per_thread(stream), graph, dependencies, data, count, mode))

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    Graph* captured = nullptr;
    const CUresult result = end_capture(*stream, captured);
    *graph = handle_of(captured);
    return result;
}
SIMGPU_PTSZ(cuStreamEndCapture, (CUstream stream, CUgraph* graph), (per_thread(stream), graph))

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    CaptureInfo info;
    return read_status(handle, status, info);
}
SIMGPU_PTSZ(cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus* status),
            (per_thread(handle), status))

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return read_info(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo, (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id),
            (per_thread(handle), status, id))

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies, std::size_t* count) {
    return read_info(handle, status, id, graph, dependencies, nullptr, count);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo_v2,
            (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
             const CUgraphNode** dependencies, std::size_t* count),
            (per_thread(handle), status, id, graph, dependencies, count))

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, std::size_t* count) {
    return read_info(handle, status, id, graph, dependencies, edges, count);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo_v3,
            (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
             const CUgraphNode** dependencies, const CUgraphEdgeData** edges, std::size_t* count),
            (per_thread(handle), status, id, graph, dependencies, edges, count))

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* data, std::size_t count,
                                              unsigned int flags) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
    const CaptureInfo info = capture_info(*stream);
    if (info.status == CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_ILLEGAL_STATE;
    if (!info.graph) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Front front;
    if (!read_edges(*info.graph, dependencies, data, count, front)) return CUDA_ERROR_INVALID_VALUE;
    return update_capture(*stream, front, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}
SIMGPU_PTSZ(cuStreamUpdateCaptureDependencies_v2,
            (CUstream handle, CUgraphNode* dependencies, const CUgraphEdgeData* data, std::size_t count,
             unsigned int flags),
            (per_thread(handle), dependencies, data, count, flags))

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* dependencies, std::size_t count,
                                           unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(handle, dependencies, nullptr, count, flags);
}
SIMGPU_PTSZ(cuStreamUpdateCaptureDependencies,
            (CUstream handle, CUgraphNode* dependencies, std::size_t count, unsigned int flags),
            (per_thread(handle), dependencies, count, flags))

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    *mode = exchange_capture_mode(*mode);
    return CUDA_SUCCESS;
}

}  // extern "C"
