#include "tests/programs/support/ways.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <unistd.h>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/green.hpp"
#include "tests/sim/include/simgpu/cuda_graph.h"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace programs {
namespace {

constexpr std::size_t kRow = 65536;

CUresult plain(int, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    return cuMemAlloc(&pointer, bytes);
}

CUresult pitch(int, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    std::size_t pitch = 0;
    return cuMemAllocPitch(&pointer, &pitch, kRow, bytes / kRow, 4);
}

/// Allocates several arrays, because one has at most 2 MiB of elements. Each takes eight times that.
CUresult array_1d(int, std::size_t bytes) {
    constexpr std::size_t kElement = sizeof(float) * 4 * 8;
    constexpr std::size_t kWidth = 131072;  // the most that every GPU takes
    for (std::size_t done = 0; done < bytes; done += kWidth * kElement) {
        CUDA_ARRAY_DESCRIPTOR descriptor{std::min(kWidth, (bytes - done) / kElement), 0, CU_AD_FORMAT_FLOAT,
                                         4};
        CUarray array = nullptr;
        if (const CUresult result = cuArrayCreate(&array, &descriptor); result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

CUresult array(int, std::size_t bytes) {
    CUDA_ARRAY_DESCRIPTOR descriptor{kRow, bytes / kRow, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = nullptr;
    return cuArrayCreate(&array, &descriptor);
}

/// A box of sixteen layers.
CUDA_ARRAY3D_DESCRIPTOR box(std::size_t bytes, unsigned int flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = kRow / 16;
    descriptor.Height = bytes / kRow;
    descriptor.Depth = 16;
    descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    descriptor.NumChannels = 1;
    descriptor.Flags = flags;
    return descriptor;
}

CUresult array_3d(int, std::size_t bytes) {
    const auto descriptor = box(bytes, 0);
    CUarray array = nullptr;
    return cuArray3DCreate(&array, &descriptor);
}

CUresult layered(int, std::size_t bytes) {
    const auto descriptor = box(bytes, CUDA_ARRAY3D_LAYERED);
    CUarray array = nullptr;
    return cuArray3DCreate(&array, &descriptor);
}

CUresult mipmapped(int, std::size_t bytes) {
    const auto descriptor = box(bytes, 0);
    CUmipmappedArray array = nullptr;
    return cuMipmappedArrayCreate(&array, &descriptor, 4);
}

CUresult async(int, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    return cuMemAllocAsync(&pointer, bytes, nullptr);
}

CUresult pool(int device, std::size_t bytes) {
    static CUmemoryPool own = nullptr;
    if (own == nullptr) {
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
        if (const CUresult result = cuMemPoolCreate(&own, &properties); result != CUDA_SUCCESS) return result;
    }
    CUdeviceptr pointer = 0;
    return cuMemAllocFromPoolAsync(&pointer, bytes, own, nullptr);
}

/// Makes granules, maps them and releases their handle, as allocators of growing segments do.
CUresult mapped(int device, std::size_t bytes) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    std::size_t granule = 0;
    CUresult result = cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS) return result;
    const std::size_t whole = (bytes + granule - 1) / granule * granule;
    CUmemGenericAllocationHandle memory = 0;
    result = cuMemCreate(&memory, whole, &properties, 0);
    if (result != CUDA_SUCCESS) return result;
    CUdeviceptr address = 0;
    result = cuMemAddressReserve(&address, whole, 0, 0, 0);
    if (result == CUDA_SUCCESS) result = cuMemMap(address, whole, 0, memory, 0);
    cuMemRelease(memory);
    return result;
}

/// The properties of shareable memory of the device, for cuMemCreate.
CUmemAllocationProp shareable(int device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
}

/// Imports memory of this process as if it were another process's.
CUresult external(int device, std::size_t bytes) {
    const CUmemAllocationProp properties = shareable(device);
    CUmemGenericAllocationHandle memory = 0;
    CUresult result = cuMemCreate(&memory, bytes, &properties, 0);
    if (result != CUDA_SUCCESS) return result;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
    description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    description.size = bytes;
    result = cuMemExportToShareableHandle(&description.handle.fd, memory,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS) {
        CUexternalMemory imported = nullptr;
        result = cuImportExternalMemory(&imported, &description);
        // The import has taken over the descriptor.
        if (result != CUDA_SUCCESS) close(description.handle.fd);
    }
    cuMemRelease(memory);
    return result;
}

/// Memory that only a descriptor keeps alive.
CUresult exported(int device, std::size_t bytes) {
    const CUmemAllocationProp properties = shareable(device);
    CUmemGenericAllocationHandle memory = 0;
    CUresult result = cuMemCreate(&memory, bytes, &properties, 0);
    if (result != CUDA_SUCCESS) return result;
    int descriptor = -1;
    result = cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    cuMemRelease(memory);
    return result;
}

/// Allocates the graph's memory: it launches the graph once.
CUresult launch(CUgraph graph) {
    CUgraphExec exec = nullptr;
    CUresult result = cuGraphInstantiate(&exec, graph, 0);
    if (result == CUDA_SUCCESS) result = cuGraphLaunch(exec, nullptr);
    if (result == CUDA_SUCCESS) result = cuStreamSynchronize(nullptr);
    return result;
}

CUresult graph(int device, std::size_t bytes) {
    CUgraph graph = nullptr;
    CUresult result = cuGraphCreate(&graph, 0);
    if (result != CUDA_SUCCESS) return result;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    parameters.bytesize = bytes;
    CUgraphNode node = nullptr;
    result = cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters);
    return result == CUDA_SUCCESS ? launch(graph) : result;
}

CUresult captured(int, std::size_t bytes) {
    CUstream stream = nullptr;
    CUresult result = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS) result = cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result != CUDA_SUCCESS) return result;
    CUdeviceptr pointer = 0;
    const CUresult allocated = cuMemAllocAsync(&pointer, bytes, stream);
    CUgraph graph = nullptr;
    result = cuStreamEndCapture(stream, &graph);
    if (allocated != CUDA_SUCCESS) return allocated;
    return result == CUDA_SUCCESS ? launch(graph) : result;
}

CUresult managed(int, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    return cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL);
}

CUfunction as_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

CUresult launch(CUfunction function) {
    unsigned long long microseconds = 1;
    void* parameters[] = {&microseconds};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
}

/// Loads code of that size (the simulator takes the length of the text for it). With lazy loading, the
/// default, the code is loaded when a function of it is requested.
CUresult module(int, std::size_t bytes) {
    const std::string image(bytes, 'x');
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    const CUresult result = cuModuleLoadData(&module, image.c_str());
    return result == CUDA_SUCCESS ? cuModuleGetFunction(&function, module, "busy") : result;
}

/// The same as a library, which lazy loading loads at the first launch.
CUresult library(int, std::size_t bytes) {
    const std::string image(bytes, 'x');
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    CUresult result = cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (result == CUDA_SUCCESS) result = cuLibraryGetKernel(&kernel, library, "busy");
    return result == CUDA_SUCCESS ? launch(as_function(kernel)) : result;
}

/// Enlarges the heap for malloc on the GPU again and again; the next launch allocates it.
CUresult heap(int, std::size_t bytes) {
    static CUfunction busy = nullptr;
    if (busy == nullptr) busy = kernel("busy");
    std::size_t before = 0;
    CUresult result = cuCtxGetLimit(&before, CU_LIMIT_MALLOC_HEAP_SIZE);
    if (result == CUDA_SUCCESS) result = cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, before + bytes);
    return result == CUDA_SUCCESS ? launch(busy) : result;
}

/// Local memory, by launches of functions that need more and more of it. The simulator alone has them. They
/// come of one module, so that its code counts once.
CUresult local(int device, std::size_t bytes) {
    constexpr std::size_t kThreads = 2048;  // of a multiprocessor, at once
    static std::size_t taken = 0;
    static CUmodule module = nullptr;
    int multiprocessors = 0;
    CUresult result =
        cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (result == CUDA_SUCCESS && module == nullptr) result = cuModuleLoadData(&module, "local memory");
    if (result != CUDA_SUCCESS) return result;
    constexpr std::size_t kStack = 1024;  // bytes a thread that a context has from its beginning
    const std::size_t a_thread =
        kStack + (taken + bytes) / (kThreads * static_cast<std::size_t>(multiprocessors));
    CUfunction function = nullptr;
    result = cuModuleGetFunction(&function, module, ("local_" + std::to_string(a_thread)).c_str());
    if (result == CUDA_SUCCESS) result = launch(function);
    if (result == CUDA_SUCCESS) taken += bytes;
    return result;
}

/// Loads code that makes all stacks larger, and launches nothing.
CUresult stacks(int device, std::size_t bytes) {
    constexpr std::size_t kThreads = 2048;  // of a multiprocessor, at once
    int multiprocessors = 0;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    int registers = 0;
    CUresult result =
        cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (result == CUDA_SUCCESS) result = cuModuleLoadData(&module, "larger stacks");
    if (result != CUDA_SUCCESS) return result;
    const auto a_thread = bytes / (kThreads * static_cast<std::size_t>(multiprocessors));
    result = cuModuleGetFunction(&function, module, ("stacks_" + std::to_string(a_thread)).c_str());
    return result == CUDA_SUCCESS ? cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function)
                                  : result;
}

/// Makes one more context; the size does not matter.
CUresult context(int device, std::size_t) {
    CUcontext context = nullptr;
    return cuCtxCreate(&context, nullptr, 0, device);
}

/// Memory that is allocated while a green context is current, which is destroyed then: the memory stays.
CUresult green(int device, std::size_t bytes) {
    const CUgreenCtx green = make_green(device);
    must(cuCtxPushCurrent(context_of(green)), "cuCtxPushCurrent");
    CUdeviceptr pointer = 0;
    const CUresult result = cuMemAlloc(&pointer, bytes);
    CUcontext popped = nullptr;
    must(cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
    must(cuGreenCtxDestroy(green), "cuGreenCtxDestroy");
    return result;
}

/// The program's own memory, moved to the GPU.
CUresult prefetch(int device, std::size_t bytes) {
    static std::vector<char> pageable;
    pageable.assign(bytes, 1);
    return cuMemPrefetchAsync(reinterpret_cast<CUdeviceptr>(pageable.data()), bytes,
                              {CU_MEM_LOCATION_TYPE_DEVICE, device}, 0, nullptr);
}

using Way = CUresult (*)(int device, std::size_t bytes);

const std::map<std::string, Way>& table() {
    static const std::map<std::string, Way> all = {
        {"array-1d", array_1d}, {"external", external}, {"exported", exported},   {"graph", graph},
        {"captured", captured}, {"plain", plain},       {"pitch", pitch},         {"array", array},
        {"array-3d", array_3d}, {"layered", layered},   {"mipmapped", mipmapped}, {"async", async},
        {"pool", pool},         {"mapped", mapped},     {"managed", managed},     {"module", module},
        {"library", library},   {"heap", heap},         {"context", context},     {"local", local},
        {"stacks", stacks},     {"green", green},       {"prefetch", prefetch},
    };
    return all;
}

}  // namespace

std::vector<std::string> ways() {
    std::vector<std::string> names;
    names.reserve(table().size());
    for (const auto& [name, way] : table()) names.push_back(name);
    return names;
}

CUresult allocate(const std::string& way, int device, std::size_t bytes) {
    return table().at(way)(device, bytes);
}

}  // namespace programs
