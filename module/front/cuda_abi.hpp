#pragma once

#include <cstddef>
#include <cstdint>

/// What a front must know of the driver's binary interface: types, constants and the layout of the few
/// structures that it reads. Facts from cuda.h; checked against it by tests/unit/module/front_abi_test where
/// a toolkit is installed.
namespace cgpu::front {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUdeviceptr_v1 = unsigned int;
using CUmemGenericAllocationHandle = std::uint64_t;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUfunction = struct CUfunc_st*;
using CUmodule = struct CUmod_st*;
using CUlibrary = struct CUlib_st*;
using CUkernel = struct CUkern_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUarray = struct CUarray_st*;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUexternalMemory = struct CUextMemory_st*;

constexpr CUresult kSuccess = 0;
constexpr CUresult kInvalidValue = 1;
constexpr CUresult kOutOfMemory = 2;
constexpr CUresult kNotInitialized = 3;
constexpr CUresult kInvalidDevice = 101;
constexpr CUresult kNotFound = 500;
constexpr CUresult kNotReady = 600;
constexpr CUresult kNotSupported = 801;
constexpr CUresult kSystemNotReady = 802;

/// The legacy and the per-thread default stream by their handles; null means one of them by the variant
/// called.
inline CUstream stream_legacy() { return reinterpret_cast<CUstream>(std::uintptr_t{1}); }
inline CUstream stream_per_thread() { return reinterpret_cast<CUstream>(std::uintptr_t{2}); }

constexpr int kCaptureNone = 0;     // CU_STREAM_CAPTURE_STATUS_NONE
constexpr int kCaptureRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

constexpr int kAttributeManagedMemory = 83;
constexpr int kAttributePageableMemoryAccess = 88;
constexpr int kAttributeConcurrentManagedAccess = 89;
constexpr int kAttributePageableUsesHostPageTables = 100;
constexpr int kAttributeDirectManagedFromHost = 101;

constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeThreadsOfMultiprocessor = 39;

constexpr int kLimitStackSize = 0;  // bytes a thread
constexpr int kLimitPrintfFifoSize = 1;
constexpr int kLimitMallocHeapSize = 2;
constexpr int kLazyLoading = 2;

constexpr int kLocationDevice = 1;         // CU_MEM_LOCATION_TYPE_DEVICE
constexpr int kAllocationManaged = 2;      // CU_MEM_ALLOCATION_TYPE_MANAGED
constexpr int kPoolReservedCurrent = 5;    // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
constexpr int kPoolUsedCurrent = 7;        // CU_MEMPOOL_ATTR_USED_MEM_CURRENT
constexpr int kGraphNodeMemoryAlloc = 10;  // CU_GRAPH_NODE_TYPE_MEM_ALLOC

constexpr unsigned kArrayCubemap = 0x04;
constexpr unsigned kArraySparse = 0x40;
constexpr unsigned kArrayDeferredMapping = 0x80;

struct CUuuid {
    std::uint8_t bytes[16];
};

struct CUmemLocation {
    int type;
    int id;
};

struct CUmemAllocationProp {
    int type;
    int requested_handle_types;
    CUmemLocation location;
    void* win32_handle_meta_data;
    std::uint8_t alloc_flags[8];
};
static_assert(sizeof(CUmemAllocationProp) == 32);

struct CUmemPoolProps {
    int allocation_type;
    int handle_types;
    CUmemLocation location;
    void* win32_security_attributes;
    std::size_t max_size;
    std::uint16_t usage;
    std::uint8_t reserved[54];
};
static_assert(sizeof(CUmemPoolProps) == 88);

struct ArrayDescriptorV1 {
    unsigned width;
    unsigned height;
    int format;
    unsigned channels;
};

struct ArrayDescriptor {
    std::size_t width;
    std::size_t height;
    int format;
    unsigned channels;
};
static_assert(sizeof(ArrayDescriptor) == 24);

struct Array3DDescriptorV1 {
    unsigned width;
    unsigned height;
    unsigned depth;
    int format;
    unsigned channels;
    unsigned flags;
};

struct Array3DDescriptor {
    std::size_t width;
    std::size_t height;
    std::size_t depth;
    int format;
    unsigned channels;
    unsigned flags;
};
static_assert(sizeof(Array3DDescriptor) == 40);

struct CUlaunchConfig {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    CUstream stream;
    void* attributes;
    unsigned attribute_count;
};
static_assert(offsetof(CUlaunchConfig, stream) == 32 && sizeof(CUlaunchConfig) == 56);

struct CUlaunchParams {
    CUfunction function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    CUstream stream;
    void** parameters;
};
static_assert(offsetof(CUlaunchParams, stream) == 40 && sizeof(CUlaunchParams) == 56);

/// The start of CUgraphNodeParams, all that is read of it.
struct CUgraphNodeParams {
    int type;
};

}  // namespace cgpu::front
