#include <cstring>

#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

/// What a CUgreenCtx is the handle of. It is never freed, because a stream may still lead to it.
struct GreenContext : Tagged<0x6e65657267ULL> {
    explicit GreenContext(Context& own) : context(own) {}
    Context& context;
};

/// Multiprocessors of a device.
struct Partition : Tagged<0x74726170ULL> {
    unsigned int ordinal = 0;
};

/// A guess.
constexpr unsigned int kLeastMultiprocessors = 2;

// Which device a resource is of stands in the part of it that is the driver's own.
void set_ordinal(CUdevResource& resource, unsigned int ordinal) {
    std::memcpy(resource._internal_padding, &ordinal, sizeof ordinal);
}
unsigned int ordinal_of(const CUdevResource& resource) {
    unsigned int ordinal = 0;
    std::memcpy(&ordinal, resource._internal_padding, sizeof ordinal);
    return ordinal;
}

CUdevResource resource_of(unsigned int ordinal, unsigned int multiprocessors) {
    CUdevResource resource{};
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    set_ordinal(resource, ordinal);
    resource.sm = {multiprocessors, kLeastMultiprocessors, kLeastMultiprocessors};
    return resource;
}

CUresult find_green(CUgreenCtx handle, GreenContext*& green) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    green = from_handle<GreenContext>(handle);
    if (!green) return CUDA_ERROR_INVALID_CONTEXT;
    return green->context.is_open() ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/// Which green contexts there are, for a stream's.
std::mutex all_mutex;
std::vector<GreenContext*> all;

CUgreenCtx green_of(const Context& context) {
    const std::lock_guard lock(all_mutex);
    for (GreenContext* each : all)
        if (&each->context == &context) return reinterpret_cast<CUgreenCtx>(each);
    return nullptr;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const auto ordinal = static_cast<std::uint32_t>(device);
    *resource = resource_of(ordinal, static_cast<unsigned int>(runtime->card(ordinal).sm_count));
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* groups, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned int, unsigned int least) {
    if (!groups || !input || input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
    if (least > input->sm.smCount) return CUDA_ERROR_INVALID_VALUE;
    const unsigned int each =
        std::max((least + kLeastMultiprocessors - 1) / kLeastMultiprocessors, 1U) * kLeastMultiprocessors;
    const unsigned int most = input->sm.smCount / each;
    *groups = result ? std::min(*groups, most) : most;
    if (result)
        for (unsigned int i = 0; i < *groups; ++i) result[i] = resource_of(ordinal_of(*input), each);
    if (remaining) *remaining = resource_of(ordinal_of(*input), input->sm.smCount - *groups * each);
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* handle, CUdevResource* resources, unsigned int count) {
    if (!handle || !resources || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; ++i)
        if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM || resources[i].sm.smCount == 0)
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    auto* partition = new Partition;
    partition->ordinal = ordinal_of(resources[0]);
    *handle = reinterpret_cast<CUdevResourceDesc>(partition);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc desc, CUdevice device, unsigned int flags) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    const auto* partition = from_handle<Partition>(desc);
    const auto ordinal = static_cast<std::uint32_t>(device);
    if (!handle || !partition || partition->ordinal != ordinal || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    Context* context = runtime->create_green(ordinal, result);
    if (!context) return result;
    auto* green = new GreenContext(*context);
    *handle = reinterpret_cast<CUgreenCtx>(green);
    const std::lock_guard lock(all_mutex);
    all.push_back(green);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
    GreenContext* green = nullptr;
    if (const CUresult result = find_green(handle, green); result != CUDA_SUCCESS) return result;
    Runtime::get()->destroy_green(green->context);
    return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
    GreenContext* green = nullptr;
    if (const CUresult result = find_green(handle, green); result != CUDA_SUCCESS) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = reinterpret_cast<CUcontext>(&green->context);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned int flags, int priority) {
    GreenContext* green = nullptr;
    if (const CUresult result = find_green(handle, green); result != CUDA_SUCCESS) return result;
    if (!stream || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = reinterpret_cast<CUstream>(green->context.create_stream(flags, clamp_priority(priority)));
    return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!green) return CUDA_ERROR_INVALID_VALUE;
    *green = green_of(stream->context);
    return CUDA_SUCCESS;
}

}  // extern "C"
