#include <cstring>

#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/event.hpp"

using namespace simgpu;

namespace {

/// The contents of a CUipcEventHandle.
struct Content {
    std::uint64_t magic;
    IpcEventId id;
    std::uint32_t owner;
};
static_assert(sizeof(Content) <= sizeof(CUipcEventHandle));

constexpr std::uint64_t kHandleMagic = 0x746e657665637069ULL;  // "ipcevent"

}  // namespace

extern "C" {

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const Event* event = from_handle<Event>(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (!handle || !event->shared()) return CUDA_ERROR_INVALID_VALUE;
    const Content content{kHandleMagic, *event->shared(), runtime->slot()};
    *handle = {};
    std::memcpy(handle->reserved, &content, sizeof content);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    Content content{};
    std::memcpy(&content, handle.reserved, sizeof content);
    if (content.magic != kHandleMagic) return CUDA_ERROR_INVALID_HANDLE;
    if (content.owner == context->runtime().slot()) return CUDA_ERROR_INVALID_CONTEXT;
    {
        Session session(context->runtime().device());
        if (!IpcEvents(session).read(content.id)) return CUDA_ERROR_MAP_FAILED;
    }
    *event = reinterpret_cast<CUevent>(
        new Event(*context, CU_EVENT_DISABLE_TIMING, content.id, Event::Origin::opened));
    return CUDA_SUCCESS;
}

}  // extern "C"
