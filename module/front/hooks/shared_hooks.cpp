// Memory of another process, opened by IPC, and memory that others may open so. (Physical memory and external
// memory: physical_hooks.cpp.)
#include "module/front/driver/hook.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/shared_memory.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuIpcGetMemHandle, void*, CUdeviceptr)
CGPU_REAL(cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)
CGPU_REAL(cuMemPoolExportToShareableHandle, void*, CUmemoryPool, int, unsigned long long)
CGPU_REAL(cuIpcOpenMemHandle, CUdeviceptr*, CUipcMemHandle, unsigned)
CGPU_REAL(cuIpcOpenMemHandle_v2, CUdeviceptr*, CUipcMemHandle, unsigned)
CGPU_REAL(cuMemPoolImportPointer, CUdeviceptr*, CUmemoryPool, void*)
}  // namespace cgpu::front::real

namespace {

CUresult opened(CUresult result, const CUdeviceptr* address) {
    if (result == kSuccess && session().route() == Route::managed) shared_memory().opened_at(*address);
    return result;
}

}  // namespace

CGPU_HOOK cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
    return opened(real::cuIpcOpenMemHandle(address, handle, flags), address);
}

CGPU_HOOK cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
    return opened(real::cuIpcOpenMemHandle_v2(address, handle, flags), address);
}

CGPU_HOOK cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool pool, void* exported) {
    return opened(real::cuMemPoolImportPointer(address, pool, exported), address);
}

CGPU_HOOK cuIpcGetMemHandle(void* handle, CUdeviceptr address) {
    CUdeviceptr begin = 0;
    std::size_t whole = 0;
    if (session().route() == Route::managed &&
        real::cuMemGetAddressRange_v2(&begin, &whole, address) == kSuccess)
        physical().will_export_allocation(begin);
    return real::cuIpcGetMemHandle(handle, address);
}

CGPU_HOOK cuMemPoolExportToShareableHandle(void* shareable, CUmemoryPool pool, int type,
                                           unsigned long long flags) {
    Pool* own = session().route() == Route::managed ? pools().find(pool) : nullptr;
    if (own != nullptr && session().isolates(own->gpu.load())) pools().will_export(*own);
    return real::cuMemPoolExportToShareableHandle(shareable, pool, type, flags);
}
