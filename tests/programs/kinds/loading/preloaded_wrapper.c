/* A user's own LD_PRELOAD: wraps a function of the driver and passes it on, as profilers do. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tests/sim/include/simgpu/cuda.h"

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
    CUresult (*next)(CUdeviceptr*, size_t) = NULL;
    *(void**)&next = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    return next != NULL ? next(address, bytes) : CUDA_ERROR_NOT_FOUND;
}
