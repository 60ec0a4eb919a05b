#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the driver's binary interface that a front needs: types, constants and the layout of the few
/// structures that it reads. Facts from cuda.h; tests/unit/module/front_abi_test checks them where a toolkit
/// is installed.
namespace cgpu::front {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUdeviceptr_v1 = unsigned int;
using CUmemGenericAllocationHandle = std::uint64_t;
using CUcontext = struct CUctx_st*;
using CUgreenCtx = struct CUgreenCtx_st*;
using CUdevResourceDesc = struct CUdevResourceDesc_st*;
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
using CUexternalMemory = struct CUextMemory_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;

constexpr CUresult kSuccess = 0;
constexpr CUresult kInvalidValue = 1;
constexpr CUresult kOutOfMemory = 2;
constexpr CUresult kNotInitialized = 3;
constexpr CUresult kNoDevice = 100;
constexpr CUresult kInvalidDevice = 101;
constexpr CUresult kNotFound = 500;
constexpr CUresult kNotReady = 600;
constexpr CUresult kNotSupported = 801;
constexpr CUresult kSystemNotReady = 802;

/// The handles of the legacy and the per-thread default stream; null means one of them, depending on the
/// variant called. The driver's interface defines them as numbers.
inline CUstream stream_legacy() {
    return reinterpret_cast<CUstream>(std::uintptr_t{1});  // NOLINT(performance-no-int-to-ptr)
}
inline CUstream stream_per_thread() {
    return reinterpret_cast<CUstream>(std::uintptr_t{2});  // NOLINT(performance-no-int-to-ptr)
}

constexpr int kCaptureNone = 0;     // CU_STREAM_CAPTURE_STATUS_NONE
constexpr int kCaptureRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

constexpr int kAttributeManagedMemory = 83;
constexpr int kAttributePageableMemoryAccess = 88;
constexpr int kAttributeConcurrentManagedAccess = 89;
constexpr int kAttributePageableUsesHostPageTables = 100;
constexpr int kAttributeDirectManagedFromHost = 101;

constexpr int kAttributeLocalBytes = 3;  // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeThreadsOfMultiprocessor = 39;

constexpr int kLimitStackSize = 0;  // bytes a thread
constexpr int kLimitPrintfFifoSize = 1;
constexpr int kLimitMallocHeapSize = 2;
constexpr int kLazyLoading = 2;

constexpr int kLocationDevice = 1;         // CU_MEM_LOCATION_TYPE_DEVICE
constexpr int kAllocationManaged = 2;      // CU_MEM_ALLOCATION_TYPE_MANAGED
constexpr int kExternalDescriptor = 1;     // CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
constexpr int kHandleDescriptor = 1;       // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int kRangeDescriptor = 1;        // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr int kPoolReservedCurrent = 5;    // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
constexpr int kPoolUsedCurrent = 7;        // CU_MEMPOOL_ATTR_USED_MEM_CURRENT
constexpr int kGraphNodeGraph = 4;         // CU_GRAPH_NODE_TYPE_GRAPH
constexpr int kGraphNodeMemoryAlloc = 10;  // CU_GRAPH_NODE_TYPE_MEM_ALLOC
constexpr int kGraphsReservedCurrent = 2;  // CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
constexpr std::uint64_t kGraphUpload = 2;  // CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD

constexpr unsigned kMemoryDevice = 2;   // CU_MEMORYTYPE_DEVICE
constexpr unsigned kMemoryArray = 3;    // CU_MEMORYTYPE_ARRAY
constexpr unsigned kMemoryUnified = 4;  // CU_MEMORYTYPE_UNIFIED
constexpr int kOperandPointer = 1;      // CU_MEMCPY_OPERAND_TYPE_POINTER
constexpr int kOperandArray = 2;        // CU_MEMCPY_OPERAND_TYPE_ARRAY
constexpr int kPointerMemoryType = 2;   // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kPointerDevice = 9;       // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

constexpr int kArrayMap = 1;            // CU_MEM_OPERATION_TYPE_MAP
constexpr int kArrayMemoryGeneric = 0;  // CU_MEM_HANDLE_TYPE_GENERIC
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

/// The start of CUDA_EXTERNAL_MEMORY_HANDLE_DESC, the only part that is read.
struct CUexternalMemoryHandleDesc {
    int type;
    alignas(8) int descriptor;
    alignas(8) char otherwise[8];  ///< of the union that the descriptor is in
    unsigned long long bytes;
};

struct CUipcMemHandle {
    char reserved[64];
};

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

struct CUarrayMapInfo {
    int resource_type;
    const void* resource;  ///< a CUarray or CUmipmappedArray
    int subresource_type;
    alignas(8) std::uint8_t subresource[32];
    int operation;
    int handle_type;
    CUmemGenericAllocationHandle memory;
    unsigned long long offset;
    unsigned devices;
    unsigned flags;
    unsigned reserved[2];
};
static_assert(sizeof(CUarrayMapInfo) == 96);

/// One end of a copy between boxes: the kind of its memory and, if it is no array, its address.
struct CopyEnd2D {
    std::size_t x_bytes;
    std::size_t y;
    unsigned type;
    const void* host;
    CUdeviceptr address;
    CUarray array;
    std::size_t pitch;
};

struct CUmemcpy2D {
    CopyEnd2D from;
    CopyEnd2D to;
    std::size_t width_bytes;
    std::size_t height;
};
static_assert(sizeof(CUmemcpy2D) == 128);

struct CopyEnd3D {
    std::size_t x_bytes;
    std::size_t y;
    std::size_t z;
    std::size_t level;
    unsigned type;
    const void* host;
    CUdeviceptr address;
    CUarray array;
    void* reserved;
    std::size_t pitch;
    std::size_t height;
};

struct CUmemcpy3D {
    CopyEnd3D from;
    CopyEnd3D to;
    std::size_t width_bytes;
    std::size_t height;
    std::size_t depth;
};
static_assert(sizeof(CUmemcpy3D) == 200);

/// One side of a copy of a batch of boxes.
struct CopyOperand {
    struct Pointer {
        CUdeviceptr address;
        std::size_t row_length;    ///< in bytes
        std::size_t layer_height;  ///< in rows
        CUmemLocation hint;
    };
    struct Array {
        CUarray array;
        std::size_t offset[3];
    };
    int type;
    union {
        Pointer pointer;
        Array array;
    };
};

struct CUmemcpy3DOp {
    CopyOperand from;
    CopyOperand to;
    std::size_t extent[3];  ///< in elements of the arrays, or in bytes, rows and layers if there is none
    int source_order;
    unsigned flags;
};
static_assert(sizeof(CUmemcpy3DOp) == 112);

struct CUmemDecompressParams {
    std::size_t source_bytes;
    std::size_t target_bytes;
    std::uint32_t* written_bytes;
    const void* source;
    void* target;
    int algorithm;
    std::uint8_t padding[20];
};
static_assert(sizeof(CUmemDecompressParams) == 64);

/// Returns the dynamic shared memory of a block of that many threads, in bytes.
using CUoccupancyB2DSize = std::size_t (*)(int);

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

struct CUmemAllocNodeParams {
    CUmemPoolProps pool;
    const void* access;
    std::size_t access_count;
    std::size_t bytes;
    CUdeviceptr address;
};
static_assert(sizeof(CUmemAllocNodeParams) == 120);

/// The start of CUgraphNodeParams, the only part that is read; `alloc` is valid only for that type.
struct CUgraphNodeParams {
    int type;
    int reserved[3];
    CUmemAllocNodeParams alloc;
};
static_assert(offsetof(CUgraphNodeParams, alloc) == 16);

struct CUgraphInstantiateParams {
    std::uint64_t flags;
    CUstream upload_stream;
    CUgraphNode failed_node;
    int result;
};
static_assert(sizeof(CUgraphInstantiateParams) == 32);

}  // namespace cgpu::front
