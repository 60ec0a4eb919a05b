#include <string.h>

#include "tests/programs/kinds/linked.h"
#include "tests/sim/include/simgpu/cuda.h"

#ifdef PER_THREAD
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream);
#define cuMemAllocAsync cuMemAllocAsync_ptsz
#endif

any_function linked_function(const struct driver_name* name) {
    static const struct {
        const char* base;
        any_function function;
    } functions[] = {
        {"cuInit", (any_function)cuInit},
        {"cuDeviceTotalMem", (any_function)cuDeviceTotalMem},
        {"cuDevicePrimaryCtxRetain", (any_function)cuDevicePrimaryCtxRetain},
        {"cuCtxSetCurrent", (any_function)cuCtxSetCurrent},
        {"cuMemGetInfo", (any_function)cuMemGetInfo},
        {"cuMemAlloc", (any_function)cuMemAlloc},
        {"cuMemAllocPitch", (any_function)cuMemAllocPitch},
        {"cuArrayCreate", (any_function)cuArrayCreate},
        {"cuMemAllocAsync", (any_function)cuMemAllocAsync},
        {"cuMemAllocManaged", (any_function)cuMemAllocManaged},
        {"cuMemFree", (any_function)cuMemFree},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
        if (strcmp(functions[i].base, name->base) == 0) return functions[i].function;
    return NULL;
}
