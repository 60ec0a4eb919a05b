/* The functions of the driver that the errand calls, in the order of their names in errand.c. */
#pragma once

#include "tests/sim/include/simgpu/cuda.h"

struct driver_functions {
    CUresult (*init)(unsigned int);
    CUresult (*total_mem)(size_t*, CUdevice);
    CUresult (*retain)(CUcontext*, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*mem_info)(size_t*, size_t*);
    CUresult (*alloc)(CUdeviceptr*, size_t);
    CUresult (*alloc_pitch)(CUdeviceptr*, size_t*, size_t, size_t, unsigned int);
    CUresult (*create_array)(CUarray*, const CUDA_ARRAY_DESCRIPTOR*);
    CUresult (*create_array_3d)(CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*);
    CUresult (*create_mipmapped)(CUmipmappedArray*, const CUDA_ARRAY3D_DESCRIPTOR*, unsigned int);
    CUresult (*alloc_async)(CUdeviceptr*, size_t, CUstream);
    CUresult (*create_pool)(CUmemoryPool*, const CUmemPoolProps*);
    CUresult (*alloc_from_pool)(CUdeviceptr*, size_t, CUmemoryPool, CUstream);
    CUresult (*create_memory)(CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*,
                              unsigned long long);
    CUresult (*create_graph)(CUgraph*, unsigned int);
    CUresult (*add_allocation)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                               CUDA_MEM_ALLOC_NODE_PARAMS*);
    CUresult (*instantiate)(CUgraphExec*, CUgraph, unsigned long long);
    CUresult (*launch_graph)(CUgraphExec, CUstream);
    CUresult (*alloc_managed)(CUdeviceptr*, size_t, unsigned int);
    CUresult (*free)(CUdeviceptr);
};
extern struct driver_functions driver;
