// Captures of streams: what goes into a graph is no work yet, and no event of the front may get into the
// graph.
#include "module/front/compute/gate.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuStreamBeginCapture, CUstream)
CGPU_REAL(cuStreamBeginCapture_ptsz, CUstream)
CGPU_REAL(cuStreamBeginCapture_v2, CUstream, int)
CGPU_REAL(cuStreamBeginCapture_v2_ptsz, CUstream, int)
CGPU_REAL(cuStreamBeginCaptureToGraph, CUstream, CUgraph, const CUgraphNode*, const void*, std::size_t, int)
CGPU_REAL(cuStreamBeginCaptureToGraph_ptsz, CUstream, CUgraph, const CUgraphNode*, const void*, std::size_t,
          int)
CGPU_REAL(cuStreamEndCapture, CUstream, CUgraph*)
CGPU_REAL(cuStreamEndCapture_ptsz, CUstream, CUgraph*)
#define CGPU_RECAPTURE CUstream, int, CUgraph, void*, void*
CGPU_REAL(cuStreamBeginRecaptureToGraph, CGPU_RECAPTURE)
CGPU_REAL(cuStreamBeginRecaptureToGraph_ptsz, CGPU_RECAPTURE)
}  // namespace cgpu::front::real

namespace {

template <class Call>
CUresult begin_capture(CUstream stream, Call call) {
    close_stream(stream);
    // Before the driver's call, so that no other thread's closing event gets into the capture unnoticed.
    captures_under_way.fetch_add(1);
    const CUresult result = call();
    if (result != kSuccess) captures_under_way.fetch_sub(1);
    return result;
}

/// `stream` as the plain functions take it. A capture that was invalidated ends here as well.
template <class Call>
CUresult end_capture(CUstream stream, Call call) {
    const bool was_capturing = is_capturing(stream);
    const CUresult result = call();
    if (was_capturing && !is_capturing(stream)) captures_under_way.fetch_sub(1);
    return result;
}

}  // namespace

CGPU_HOOK cuStreamBeginCapture(CUstream stream) {
    return begin_capture(stream, [&] { return real::cuStreamBeginCapture(stream); });
}

CGPU_HOOK cuStreamBeginCapture_ptsz(CUstream stream) {
    return begin_capture(per_thread(stream), [&] { return real::cuStreamBeginCapture_ptsz(stream); });
}

CGPU_HOOK cuStreamBeginCapture_v2(CUstream stream, int mode) {
    return begin_capture(stream, [&] { return real::cuStreamBeginCapture_v2(stream, mode); });
}

CGPU_HOOK cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode) {
    return begin_capture(per_thread(stream),
                         [&] { return real::cuStreamBeginCapture_v2_ptsz(stream, mode); });
}

CGPU_HOOK cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                      const void* edges, std::size_t count, int mode) {
    return begin_capture(
        stream, [&] { return real::cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode); });
}

CGPU_HOOK cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                           const void* edges, std::size_t count, int mode) {
    return begin_capture(per_thread(stream), [&] {
        return real::cuStreamBeginCaptureToGraph_ptsz(stream, graph, nodes, edges, count, mode);
    });
}

CGPU_HOOK cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    return end_capture(stream, [&] { return real::cuStreamEndCapture(stream, graph); });
}

CGPU_HOOK cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
    return end_capture(per_thread(stream), [&] { return real::cuStreamEndCapture_ptsz(stream, graph); });
}

CGPU_HOOK cuStreamBeginRecaptureToGraph(CUstream stream, int mode, CUgraph graph, void* callback,
                                        void* data) {
    return begin_capture(
        stream, [&] { return real::cuStreamBeginRecaptureToGraph(stream, mode, graph, callback, data); });
}

CGPU_HOOK cuStreamBeginRecaptureToGraph_ptsz(CUstream stream, int mode, CUgraph graph, void* callback,
                                             void* data) {
    return begin_capture(per_thread(stream), [&] {
        return real::cuStreamBeginRecaptureToGraph_ptsz(stream, mode, graph, callback, data);
    });
}
