#include "tests/sim/driver/graph/capture.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace simgpu {

namespace {

std::mutex mutex;
std::vector<std::unique_ptr<Capture>> captures;
std::atomic<std::size_t> ongoing{0};
std::uint64_t last_id = 0;
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

Capture* find_capture(std::uint64_t id) {
    for (const auto& capture : captures) {
        if (capture->id == id) return capture.get();
    }
    return nullptr;
}

void add_to(Front& front, const Front& more) {
    for (const Edge& edge : more) {
        const bool is_there = std::any_of(front.begin(), front.end(),
                                          [&](const Edge& other) { return other.from == edge.from; });
        if (!is_there) front.push_back(edge);
    }
}

/// Whether the next node of the origin would depend, directly or not, on everything that other streams
/// captured.
bool all_joined(const Capture& capture) {
    std::set<const Node*> reached;
    std::vector<const Node*> open;
    for (const Edge& edge : capture.fronts.at(capture.origin)) open.push_back(edge.from);
    while (!open.empty()) {
        const Node* node = open.back();
        open.pop_back();
        if (!reached.insert(node).second) continue;
        for (const Edge& edge : node->dependencies) open.push_back(edge.from);
    }
    return std::all_of(capture.fronts.begin(), capture.fronts.end(), [&](const auto& entry) {
        return std::all_of(entry.second.begin(), entry.second.end(),
                           [&](const Edge& edge) { return reached.contains(edge.from); });
    });
}

/// The streams are free again. @return the capture, which is no longer listed.
std::unique_ptr<Capture> take_out(Capture& capture) {
    for (const auto& [stream, front] : capture.fronts) stream->capture = nullptr;
    capture.graph->is_captured_into = false;
    const auto place = std::find_if(captures.begin(), captures.end(),
                                    [&](const auto& each) { return each.get() == &capture; });
    std::unique_ptr<Capture> taken = std::move(*place);
    captures.erase(place);
    ongoing = captures.size();
    return taken;
}

Capture* capture_of(const Stream& stream) { return stream.capture.load(std::memory_order_acquire); }

/// Captures that a use of the context's legacy default stream would have to wait for.
std::vector<Capture*> blocking_captures(const Context& context) {
    std::vector<Capture*> found;
    for (const auto& capture : captures) {
        const bool blocks = std::any_of(
            capture->fronts.begin(), capture->fronts.end(),
            [&](const auto& entry) { return &entry.first->context == &context && entry.first->blocking(); });
        if (blocks) found.push_back(capture.get());
    }
    return found;
}

}  // namespace

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into, Front front) {
    if (stream.is_legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const std::lock_guard lock(mutex);
    if (stream.is_captured()) return CUDA_ERROR_ILLEGAL_STATE;
    auto capture = std::make_unique<Capture>();
    capture->id = ++last_id;
    capture->mode = mode;
    capture->origin = &stream;
    capture->thread = std::this_thread::get_id();
    capture->owns_graph = into == nullptr;
    capture->graph = into ? into : new Graph;
    capture->graph->is_captured_into = true;
    capture->fronts[&stream] = std::move(front);
    stream.capture = capture.get();
    captures.push_back(std::move(capture));
    ongoing = captures.size();
    return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, Graph*& graph) {
    graph = nullptr;
    const std::lock_guard lock(mutex);
    Capture* capture = capture_of(stream);
    if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult result = CUDA_SUCCESS;
    if (!all_joined(*capture)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (capture->invalidated) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const std::unique_ptr<Capture> ended = take_out(*capture);
    if (result == CUDA_SUCCESS) {
        graph = ended->graph;
    } else if (ended->owns_graph) {
        delete ended->graph;
    }
    return result;
}

CaptureInfo capture_info(Stream& stream) {
    const std::lock_guard lock(mutex);
    const Capture* capture = capture_of(stream);
    if (!capture) return {};
    if (capture->invalidated) return {CU_STREAM_CAPTURE_STATUS_INVALIDATED, capture->id, nullptr, {}};
    return {CU_STREAM_CAPTURE_STATUS_ACTIVE, capture->id, capture->graph, capture->fronts.at(&stream)};
}

CUresult update_capture(Stream& stream, const Front& front, bool replace) {
    const std::lock_guard lock(mutex);
    Capture* capture = capture_of(stream);
    if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (const Edge& edge : front) {
        if (!capture->graph->holds(edge.from)) return CUDA_ERROR_INVALID_VALUE;
    }
    Front& own = capture->fronts.at(&stream);
    if (replace) own.clear();
    add_to(own, front);
    return CUDA_SUCCESS;
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) {
    return std::exchange(thread_mode, mode);
}

CUresult capture_step(Stream& stream, Step step) {
    const std::lock_guard lock(mutex);
    Capture* capture = capture_of(stream);
    if (!capture || capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Front& front = capture->fronts.at(&stream);
    Node* node = capture->graph->add(stream.context, std::move(step), front);
    if (!node) return CUDA_ERROR_INVALID_VALUE;
    front = {{node, {}}};
    return CUDA_SUCCESS;
}

CUresult capture_record(Stream& stream, CapturedRecording& recording) {
    const std::lock_guard lock(mutex);
    const Capture* capture = capture_of(stream);
    if (!capture || capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    recording = {capture->id, capture->fronts.at(&stream)};
    return CUDA_SUCCESS;
}

CUresult capture_wait(Stream& stream, const CapturedRecording& recording) {
    const std::lock_guard lock(mutex);
    Capture* own = capture_of(stream);
    Capture* other = find_capture(recording.capture);
    if (!other) {
        if (own) own->invalidated = true;
        return own ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION : CUDA_ERROR_CAPTURED_EVENT;
    }
    if (other->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (own && own != other) {
        own->invalidated = other->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!own && stream.is_legacy) {
        other->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    add_to(other->fronts[&stream], recording.front);
    stream.capture = other;
    return CUDA_SUCCESS;
}

CUresult check_unsafe_call() {
    if (ongoing == 0 || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    const std::lock_guard lock(mutex);
    CUresult result = CUDA_SUCCESS;
    for (const auto& capture : captures) {
        const bool own = capture->thread == std::this_thread::get_id();
        const bool forbids = own ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                 : thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                       capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!forbids) continue;
        capture->invalidated = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult check_work(Stream& stream) {
    if (ongoing == 0) return CUDA_SUCCESS;
    const std::lock_guard lock(mutex);
    if (stream.is_legacy) {
        const auto blocking = blocking_captures(stream.context);
        for (Capture* capture : blocking) capture->invalidated = true;
        if (!blocking.empty()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    const Capture* capture = capture_of(stream);
    return capture && capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult check_wait(Stream& stream) {
    if (const CUresult result = check_work(stream); result != CUDA_SUCCESS) return result;
    if (stream.is_captured()) return lose_capture(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return check_unsafe_call();
}

CUresult check_wait(Context& context) {
    if (ongoing == 0) return CUDA_SUCCESS;
    {
        const std::lock_guard lock(mutex);
        bool any = false;
        for (const auto& capture : captures) {
            const bool is_here =
                std::any_of(capture->fronts.begin(), capture->fronts.end(),
                            [&](const auto& entry) { return &entry.first->context == &context; });
            if (is_here) any = capture->invalidated = true;
        }
        if (any) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return check_unsafe_call();
}

CUresult check_wait(const CapturedRecording& recording) {
    if (recording.capture == 0) return check_unsafe_call();
    const std::lock_guard lock(mutex);
    if (Capture* capture = find_capture(recording.capture)) capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

bool is_blocked_by_capture(Stream& stream) {
    if (ongoing == 0 || !stream.is_legacy) return false;
    const std::lock_guard lock(mutex);
    return !blocking_captures(stream.context).empty();
}

CUresult lose_capture(Stream& stream, CUresult error) {
    const std::lock_guard lock(mutex);
    if (Capture* capture = capture_of(stream)) capture->invalidated = true;
    return error;
}

void forget_stream(Stream& stream) {
    const std::lock_guard lock(mutex);
    Capture* capture = capture_of(stream);
    if (!capture) return;
    capture->invalidated = true;
    if (capture->origin != &stream) {
        capture->fronts.erase(&stream);
        return;
    }
    const std::unique_ptr<Capture> lost = take_out(*capture);
    if (lost->owns_graph) delete lost->graph;
}

}  // namespace simgpu
