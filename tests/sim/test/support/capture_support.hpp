#pragma once

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {

inline void begin_capture(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    REQUIRE_OK(cuStreamBeginCapture(stream, mode));
}

inline CUgraph end_capture(CUstream stream) {
    CUgraph graph = nullptr;
    REQUIRE_OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

inline CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status{};
    REQUIRE_OK(cuStreamIsCapturing(stream, &status));
    return status;
}

/// Ends a capture that is lost.
inline void end_lost_capture(CUstream stream) {
    REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    REQUIRE_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    REQUIRE_EQ(graph == nullptr, true);
    REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

inline std::size_t node_count(CUgraph graph) {
    std::size_t count = 0;
    REQUIRE_OK(cuGraphGetNodes(graph, nullptr, &count));
    return count;
}

}  // namespace simgpu::test
