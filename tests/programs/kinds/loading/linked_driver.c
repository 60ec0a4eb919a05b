#include <string.h>

#include "tests/programs/kinds/loading/linked.h"
#include "tests/sim/include/simgpu/cuda.h"

#ifdef PER_THREAD
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream);
#define cuMemAllocAsync cuMemAllocAsync_ptsz
#define cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz
#define cuGraphLaunch cuGraphLaunch_ptsz
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
        {"cuArray3DCreate", (any_function)cuArray3DCreate},
        {"cuMipmappedArrayCreate", (any_function)cuMipmappedArrayCreate},
        {"cuMemPoolCreate", (any_function)cuMemPoolCreate},
        {"cuMemAllocFromPoolAsync", (any_function)cuMemAllocFromPoolAsync},
        {"cuMemCreate", (any_function)cuMemCreate},
        {"cuGraphCreate", (any_function)cuGraphCreate},
        {"cuGraphAddMemAllocNode", (any_function)cuGraphAddMemAllocNode},
        {"cuGraphInstantiateWithFlags", (any_function)cuGraphInstantiateWithFlags},
        {"cuGraphLaunch", (any_function)cuGraphLaunch},
        {"cuMemAllocManaged", (any_function)cuMemAllocManaged},
        {"cuMemFree", (any_function)cuMemFree},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
        if (strcmp(functions[i].base, name->base) == 0) return functions[i].function;
    return NULL;
}
