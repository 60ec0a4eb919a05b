#!/usr/bin/env python3
"""Compares the front's argument lists and structures with NVIDIA's cuda.h, where a toolkit is installed (else exit 77).

usage: check_abi.py FRONT_FOLDER --compiler CXX --include REPOSITORY

Every CGPU_REAL(name, types...) must pass what the header's function of that name passes: the same number of arguments, each
of the same size and kind. The per-thread variants (_ptsz, _ptds) have their plain namesakes' arguments.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOTS = [pathlib.Path("/usr/local/cuda"), *sorted(pathlib.Path("/usr/local").glob("cuda-*")), pathlib.Path("/usr")]
STRUCTURES = {
    "ArrayDescriptor": "CUDA_ARRAY_DESCRIPTOR_v2", "Array3DDescriptor": "CUDA_ARRAY3D_DESCRIPTOR_v2",
    "ArrayDescriptorV1": "CUDA_ARRAY_DESCRIPTOR_v1", "Array3DDescriptorV1": "CUDA_ARRAY3D_DESCRIPTOR_v1",
    "CUlaunchConfig": "::CUlaunchConfig", "CUlaunchParams": "CUDA_LAUNCH_PARAMS_v1",
    "CUmemLocation": "CUmemLocation_v1", "CUmemAllocationProp": "CUmemAllocationProp_v1", "CUuuid": "::CUuuid",
    "CUipcMemHandle": "CUipcMemHandle_v1",
    "CUmemPoolProps": "CUmemPoolProps_v1", "CUmemAllocNodeParams": "CUDA_MEM_ALLOC_NODE_PARAMS_v1",
    "CUgraphInstantiateParams": "CUDA_GRAPH_INSTANTIATE_PARAMS",
    "CUarrayMapInfo": "CUarrayMapInfo_v1",
    "CUmemcpy2D": "CUDA_MEMCPY2D_v2", "CUmemcpy3D": "CUDA_MEMCPY3D_v2", "CUmemcpy3DOp": "CUDA_MEMCPY3D_BATCH_OP_v1",
    "CopyOperand": "CUmemcpy3DOperand_v1", "CUmemDecompressParams": "::CUmemDecompressParams",
}
OFFSETS = [
    ("CUlaunchConfig", "stream", "::CUlaunchConfig", "hStream"), ("CUlaunchParams", "stream", "CUDA_LAUNCH_PARAMS_v1", "hStream"),
    ("CUmemAllocationProp", "location", "CUmemAllocationProp_v1", "location"),
    ("CUmemPoolProps", "location", "CUmemPoolProps_v1", "location"),
    ("CUmemPoolProps", "allocation_type", "CUmemPoolProps_v1", "allocType"),
    ("Array3DDescriptor", "flags", "CUDA_ARRAY3D_DESCRIPTOR_v2", "Flags"),
    ("Array3DDescriptor", "format", "CUDA_ARRAY3D_DESCRIPTOR_v2", "Format"),
    ("ArrayDescriptor", "channels", "CUDA_ARRAY_DESCRIPTOR_v2", "NumChannels"),
    ("Array3DDescriptorV1", "flags", "CUDA_ARRAY3D_DESCRIPTOR_v1", "Flags"),
    ("CUgraphNodeParams", "type", "::CUgraphNodeParams", "type"), ("CUgraphNodeParams", "alloc", "::CUgraphNodeParams", "alloc"),
    ("CUarrayMapInfo", "resource", "CUarrayMapInfo_v1", "resource"),
    ("CUarrayMapInfo", "operation", "CUarrayMapInfo_v1", "memOperationType"),
    ("CUarrayMapInfo", "handle_type", "CUarrayMapInfo_v1", "memHandleType"),
    ("CUarrayMapInfo", "memory", "CUarrayMapInfo_v1", "memHandle"),
    ("CUmemcpy2D", "from.type", "CUDA_MEMCPY2D_v2", "srcMemoryType"), ("CUmemcpy2D", "from.address", "CUDA_MEMCPY2D_v2", "srcDevice"),
    ("CUmemcpy2D", "to.type", "CUDA_MEMCPY2D_v2", "dstMemoryType"), ("CUmemcpy2D", "to.address", "CUDA_MEMCPY2D_v2", "dstDevice"),
    ("CUmemcpy2D", "width_bytes", "CUDA_MEMCPY2D_v2", "WidthInBytes"),
    ("CUmemcpy3D", "from.type", "CUDA_MEMCPY3D_v2", "srcMemoryType"), ("CUmemcpy3D", "from.address", "CUDA_MEMCPY3D_v2", "srcDevice"),
    ("CUmemcpy3D", "to.type", "CUDA_MEMCPY3D_v2", "dstMemoryType"), ("CUmemcpy3D", "to.address", "CUDA_MEMCPY3D_v2", "dstDevice"),
    ("CUmemcpy3D", "width_bytes", "CUDA_MEMCPY3D_v2", "WidthInBytes"), ("CUmemcpy3D", "depth", "CUDA_MEMCPY3D_v2", "Depth"),
    ("CUmemcpy3D", "from.type", "CUDA_MEMCPY3D_PEER_v1", "srcMemoryType"), ("CUmemcpy3D", "to.type", "CUDA_MEMCPY3D_PEER_v1", "dstMemoryType"),
    ("CUmemcpy3D", "from.address", "CUDA_MEMCPY3D_PEER_v1", "srcDevice"), ("CUmemcpy3D", "to.address", "CUDA_MEMCPY3D_PEER_v1", "dstDevice"),
    ("CUmemcpy3D", "from.reserved", "CUDA_MEMCPY3D_PEER_v1", "srcContext"), ("CUmemcpy3D", "to.reserved", "CUDA_MEMCPY3D_PEER_v1", "dstContext"),
    ("CUmemcpy3D", "width_bytes", "CUDA_MEMCPY3D_PEER_v1", "WidthInBytes"), ("CUmemcpy3D", "depth", "CUDA_MEMCPY3D_PEER_v1", "Depth"),
    ("CUmemcpy3DOp", "to", "CUDA_MEMCPY3D_BATCH_OP_v1", "dst"), ("CUmemcpy3DOp", "extent", "CUDA_MEMCPY3D_BATCH_OP_v1", "extent"),
    ("CopyOperand", "pointer.address", "CUmemcpy3DOperand_v1", "op.ptr.ptr"), ("CopyOperand", "array.array", "CUmemcpy3DOperand_v1", "op.array.array"),
    ("CUmemDecompressParams", "source_bytes", "::CUmemDecompressParams", "srcNumBytes"),
    ("CUmemDecompressParams", "target_bytes", "::CUmemDecompressParams", "dstNumBytes"),
    ("CUexternalMemoryHandleDesc", "type", "CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "type"),
    ("CUexternalMemoryHandleDesc", "descriptor", "CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "handle"),
    ("CUexternalMemoryHandleDesc", "bytes", "CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "size"),
    ("CUmemAllocNodeParams", "bytes", "CUDA_MEM_ALLOC_NODE_PARAMS_v1", "bytesize"),
    ("CUgraphInstantiateParams", "flags", "CUDA_GRAPH_INSTANTIATE_PARAMS", "flags"),
]
CONSTANTS = {
    "kOutOfMemory": "CUDA_ERROR_OUT_OF_MEMORY", "kNotInitialized": "CUDA_ERROR_NOT_INITIALIZED",
    "kInvalidDevice": "CUDA_ERROR_INVALID_DEVICE", "kNotFound": "CUDA_ERROR_NOT_FOUND",
    "kNotReady": "CUDA_ERROR_NOT_READY", "kNotSupported": "CUDA_ERROR_NOT_SUPPORTED",
    "kSystemNotReady": "CUDA_ERROR_SYSTEM_NOT_READY", "kCaptureRelaxed": "CU_STREAM_CAPTURE_MODE_RELAXED",
    "kAttributeManagedMemory": "CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY",
    "kAttributePageableMemoryAccess": "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS",
    "kAttributeConcurrentManagedAccess": "CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS",
    "kAttributePageableUsesHostPageTables": "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES",
    "kAttributeDirectManagedFromHost": "CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST",
    "kAttributeLocalBytes": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
    "kAttributeMultiprocessors": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "kAttributeThreadsOfMultiprocessor": "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR",
    "kLimitStackSize": "CU_LIMIT_STACK_SIZE", "kLimitPrintfFifoSize": "CU_LIMIT_PRINTF_FIFO_SIZE",
    "kLimitMallocHeapSize": "CU_LIMIT_MALLOC_HEAP_SIZE", "kLazyLoading": "CU_MODULE_LAZY_LOADING",
    "kLocationDevice": "CU_MEM_LOCATION_TYPE_DEVICE", "kAllocationManaged": "CU_MEM_ALLOCATION_TYPE_MANAGED",
    "kPoolReservedCurrent": "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT",
    "kPoolUsedCurrent": "CU_MEMPOOL_ATTR_USED_MEM_CURRENT", "kGraphNodeMemoryAlloc": "CU_GRAPH_NODE_TYPE_MEM_ALLOC",
    "kGraphNodeGraph": "CU_GRAPH_NODE_TYPE_GRAPH", "kGraphsReservedCurrent": "CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT",
    "kGraphUpload": "CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD",
    "kRangeDescriptor": "CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD",
    "kHandleDescriptor": "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
    "kMemoryDevice": "CU_MEMORYTYPE_DEVICE", "kMemoryArray": "CU_MEMORYTYPE_ARRAY", "kMemoryUnified": "CU_MEMORYTYPE_UNIFIED",
    "kOperandPointer": "CU_MEMCPY_OPERAND_TYPE_POINTER", "kOperandArray": "CU_MEMCPY_OPERAND_TYPE_ARRAY",
    "kPointerMemoryType": "CU_POINTER_ATTRIBUTE_MEMORY_TYPE", "kPointerDevice": "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL",
    "kExternalDescriptor": "CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD",
    "kArrayMap": "CU_MEM_OPERATION_TYPE_MAP", "kArrayMemoryGeneric": "CU_MEM_HANDLE_TYPE_GENERIC",
    "kArraySparse": "CUDA_ARRAY3D_SPARSE", "kArrayDeferredMapping": "CUDA_ARRAY3D_DEFERRED_MAPPING",
    "kArrayCubemap": "CUDA_ARRAY3D_CUBEMAP",
}
# For these the header declares only a newer version; cudaTypedefs.h has the older one.
OLDER = {
    "cuMemcpyBatchAsync": "PFN_cuMemcpyBatchAsync_v12080", "cuMemcpyBatchAsync_ptsz": "PFN_cuMemcpyBatchAsync_v12080_ptsz",
    "cuMemcpy3DBatchAsync": "PFN_cuMemcpy3DBatchAsync_v12080",
    "cuMemcpy3DBatchAsync_ptsz": "PFN_cuMemcpy3DBatchAsync_v12080_ptsz",
}
PREAMBLE = """
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <type_traits>
#include "module/front/driver/cuda_abi.hpp"
template <class... A> struct Shapes {};
template <class T> struct Kind { static constexpr unsigned value = sizeof(T) * 4 + (std::is_pointer_v<T> ? 1u : 0u) +
    (std::is_floating_point_v<T> ? 2u : 0u); };
template <class A, class B> struct Same;
template <class... A, class... B> struct Same<Shapes<A...>, Shapes<B...>> {
    static constexpr bool value = [] {
        if constexpr (sizeof...(A) != sizeof...(B)) return false;
        else return ((Kind<A>::value == Kind<B>::value) && ...);
    }();
};
template <class F> struct Of;
template <class R, class... A> struct Of<R(A...)> { using type = Shapes<A...>; };
#ifndef CUDA_ARRAY3D_CUBEMAP
#error "not the header that is meant"
#endif
"""


def real_functions(folder):
    """Return {name: types as written} of every CGPU_REAL, and of every call that CGPU_OWN_CALLS lists."""
    found = {}
    for path in [*folder.glob("*/**/*.cpp"), folder / "driver/real_driver.hpp"]:
        text = path.read_text()
        for macro in re.finditer(r"^#define (CGPU_[A-Z]+) (.*)$", text, re.M):
            text = re.sub(rf"(?<!define )\b{macro[1]}\b", macro[2], text)
        declared = re.finditer(r"^(?:CGPU_REAL| *call)\((\w+)\s*(?:,\s*(.*?))?\)(?: *\\)?$", text, re.M | re.S)
        found |= {match[1]: (match[2] or "").replace("\n", " ") for match in declared}
    return found


def plain_name(name, header):
    """Return the header's function, or its type of that version's pointer; None where the header has neither."""
    if name in OLDER:
        return f"std::remove_pointer_t<::{OLDER[name]}>"
    for suffix in ("_ptsz", "_ptds"):
        name = name.removesuffix(suffix)
    return f"decltype(::{name})" if re.search(rf"\b{name}\s*\(", header) else None


def program(functions, header):
    lines, unknown = [PREAMBLE], []
    for name, types in sorted(functions.items()):
        plain = plain_name(name, header)
        if plain is None:
            unknown.append(name)
            continue
        lines.append(f"namespace cgpu::front {{ using Ours_{name} = Shapes<{types}>; }}")
        lines.append(f'static_assert(Same<cgpu::front::Ours_{name}, Of<{plain}>::type>::value, "{name}");')
    lines += [f'static_assert(sizeof(cgpu::front::{ours}) == sizeof({theirs}), "{ours}");' for ours, theirs in STRUCTURES.items()]
    lines += [f'static_assert(offsetof(cgpu::front::{ours}, {a}) == offsetof({theirs}, {b}), "{ours}::{a}");'
              for ours, a, theirs, b in OFFSETS]
    lines += [f'static_assert(static_cast<long>(cgpu::front::{ours}) == static_cast<long>({theirs}), "{ours}");'
              for ours, theirs in CONSTANTS.items()]
    return "\n".join(lines) + "\n", unknown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    arguments = parser.parse_args()
    include = next((root / "include" for root in ROOTS if (root / "include/cuda.h").exists()), None)
    if include is None:
        print("no CUDA toolkit here: nothing to compare with")
        return 77
    functions = real_functions(arguments.folder)
    # Preprocessed: the header names its functions' newest versions by macros.
    header = subprocess.run([arguments.compiler, "-E", "-P", "-xc++", "-D__CUDA_API_VERSION_INTERNAL", str(include / "cuda.h")],
                            check=True, capture_output=True, text=True).stdout
    text, unknown = program(functions, header)
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(text)
        source.flush()
        done = subprocess.run([arguments.compiler, "-std=c++20", "-fsyntax-only", "-I", str(include), "-I",
                               arguments.include, source.name], capture_output=True, text=True)
    sys.stdout.write(done.stderr)
    if unknown:
        print(f"not in {include}/cuda.h, so not compared: {', '.join(unknown)}")
    print(f"{len(functions) - len(unknown)} functions compared")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
