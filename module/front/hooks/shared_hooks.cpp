// Memory of another process, opened by IPC. (Physical memory and external memory: physical_hooks.cpp.)
#include "module/front/driver/hook.hpp"
#include "module/front/lease/shared_memory.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
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
