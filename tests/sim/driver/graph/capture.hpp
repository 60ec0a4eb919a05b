#pragma once

#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "tests/sim/driver/graph/graph.hpp"
#include "tests/sim/driver/stream/stream.hpp"

namespace simgpu {

/// What the next node captured in a stream depends on.
using Front = std::vector<Edge>;

/// Streams whose work goes into a graph instead of to the GPU, from cuStreamBeginCapture to
/// cuStreamEndCapture. All of it is guarded by one lock of this process.
class Capture {
  public:
    std::uint64_t id = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    Stream* origin = nullptr;
    std::thread::id thread;
    Graph* graph = nullptr;
    bool owns_graph = true;  ///< Not where the program gave the graph to capture into.
    bool invalidated = false;
    std::map<Stream*, Front> fronts;  ///< Of all streams that take part.
};

/// What a call reports about a stream's capture.
struct CaptureInfo {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::uint64_t id = 0;
    Graph* graph = nullptr;
    Front front;
};

/// An event that was recorded in a captured stream. Its capture may have ended since.
struct CapturedRecording {
    std::uint64_t capture = 0;  ///< 0: it was recorded in none
    Front front;
};

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into, Front front);
/// @param graph nullptr where it returns an error.
CUresult end_capture(Stream& stream, Graph*& graph);
CaptureInfo capture_info(Stream& stream);
CUresult update_capture(Stream& stream, const Front& front, bool replace);
CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

/// Adds the step to what the stream captures. @return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED if it's lost.
CUresult capture_step(Stream& stream, Step step);
/// cuEventRecord in a captured stream.
CUresult capture_record(Stream& stream, CapturedRecording& recording);
/// cuStreamWaitEvent for an event of a capture: the stream joins it.
CUresult capture_wait(Stream& stream, const CapturedRecording& recording);

/// Checks whether a call is allowed that captures cannot see and that may depend on work that they hold back.
/// @return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if not; the captures in question are lost then.
CUresult check_unsafe_call();
/// Checks whether work may be added to the stream: not to the legacy default stream while a blocking stream
/// of its context is captured, and not to a stream whose capture is lost.
CUresult check_work(Stream& stream);
/// Checks whether the stream, or the whole context, may be queried or waited for.
CUresult check_wait(Stream& stream);
CUresult check_wait(Context& context);
/// Checks the same for the event of that recording: CUDA_ERROR_CAPTURED_EVENT if not.
CUresult check_wait(const CapturedRecording& recording);

/// Whether the stream is the legacy default stream and can't be used because a blocking stream is captured.
bool is_blocked_by_capture(Stream& stream);

/// The capture in which the stream takes part is lost. @return `error`.
CUresult lose_capture(Stream& stream, CUresult error);
/// The stream ends.
void forget_stream(Stream& stream);

}  // namespace simgpu
