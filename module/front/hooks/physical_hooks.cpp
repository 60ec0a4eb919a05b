// Physical memory and its mappings (the virtual memory management functions). Its bindings to multicast
// objects: multicast_hooks.cpp.
#include "module/front/driver/hook.hpp"
#include "module/front/lease/bindings.hpp"
#include "module/front/lease/freeing.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/shared_memory.hpp"
#include "module/front/memory/charge.hpp"

using namespace cgpu::front;
using cgpu::module::Holding;

namespace cgpu::front::real {
CGPU_REAL(cuMemCreate, CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,
          unsigned long long)
CGPU_REAL(cuMemRelease, CUmemGenericAllocationHandle)
CGPU_REAL(cuMemMap, CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long)
CGPU_REAL(cuMemUnmap, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle*, void*)
CGPU_REAL(cuMemExportToShareableHandle, void*, CUmemGenericAllocationHandle, int, unsigned long long)
CGPU_REAL(cuMemGetHandleForAddressRange, void*, CUdeviceptr, std::size_t, int, unsigned long long)
CGPU_REAL(cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)
CGPU_REAL(cuImportExternalMemory, CUexternalMemory*, const CUexternalMemoryHandleDesc*)
CGPU_REAL(cuDestroyExternalMemory, CUexternalMemory)
CGPU_REAL(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle*, void*, int)
}  // namespace cgpu::front::real

namespace {

bool managed() { return session().route() == Route::managed; }

int gpu_of_current() {
    CUdevice device = 0;
    return real::cuCtxGetDevice(&device) == kSuccess ? session().gpu_of(device) : kForeignGpu;
}

/// Opens memory from a descriptor, which may be one of this process's own; -1: it is opened in another way.
/// `foreign` is called if another process's memory was opened.
template <class Handle, class Call, class Foreign>
CUresult open_from(int descriptor, const Handle& handle, Call call, Foreign foreign) {
    Physical::Memory* own = descriptor >= 0 && managed() ? physical().hold(descriptor) : nullptr;
    const CUresult result = call();
    if (own == nullptr) {
        if (result == kSuccess && managed()) foreign();
        return result;
    }
    if (result == kSuccess)
        physical().imported(*own, handle());
    else
        physical().let_go(*own);
    return result;
}

}  // namespace

CGPU_HOOK cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                      const CUmemAllocationProp* what, unsigned long long flags) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    const bool on_device = what != nullptr && what->location.type == kLocationDevice;
    if (route == Route::pass || handle == nullptr || !on_device || bytes == 0) {
        return real::cuMemCreate(handle, bytes, what, flags);
    }
    // By the location of the memory, whatever context is current.
    const int gpu = session().gpu_of(what->location.id);
    if (gpu == kForeignGpu) {
        session().link().notice(cgpu::wire::Event::foreign_device_refused, 0, "cuMemCreate");
        return kInvalidDevice;
    }
    if (!session().isolates(gpu)) return real::cuMemCreate(handle, bytes, what, flags);
    return charged(gpu, bytes, Holding::physical, 0, [&](Made& made) {
        const CUresult result = real::cuMemCreate(handle, bytes, what, flags);
        if (result != kSuccess) return result;
        made.key = physical().created(*handle, gpu, bytes);
        return result;
    });
}

CGPU_HOOK cuMemRelease(CUmemGenericAllocationHandle handle) {
    if (!managed()) return real::cuMemRelease(handle);
    const Freeing freeing;
    const CUresult result = real::cuMemRelease(handle);
    if (result == kSuccess) {
        bindings().handle_released(handle);
        physical().handle_released(handle);
    }
    return result;
}

CGPU_HOOK cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                   CUmemGenericAllocationHandle handle, unsigned long long flags) {
    const CUresult result = real::cuMemMap(address, bytes, offset, handle, flags);
    if (result != kSuccess || !managed()) return result;
    const bool own = physical().mapped(address, bytes, handle);
    if (!own && shared_memory().any_imported()) shared_memory().opened(gpu_of_current(), bytes);
    return result;
}

CGPU_HOOK cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
    if (!managed()) return real::cuMemUnmap(address, bytes);
    const Freeing freeing;
    const CUresult result = real::cuMemUnmap(address, bytes);
    if (result == kSuccess) physical().unmapped(address, bytes);
    return result;
}

CGPU_HOOK cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    const CUresult result = real::cuMemRetainAllocationHandle(handle, address);
    if (result == kSuccess && managed())
        physical().retained(*handle, reinterpret_cast<std::uintptr_t>(address));
    return result;
}

CGPU_HOOK cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle, int type,
                                       unsigned long long flags) {
    const bool descriptor = type == kHandleDescriptor && managed();
    if (descriptor) physical().will_export(handle);
    // A fabric handle is bytes, by which any process can open the memory as long as somebody holds it.
    // Nothing tells when that has ended, so the memory is held until this process ends; from before the call,
    // because another thread may see the bytes, open them and release the handle meanwhile.
    Physical::Memory* own = !descriptor && managed() ? physical().hold_handle(handle) : nullptr;
    const CUresult result = real::cuMemExportToShareableHandle(shareable, handle, type, flags);
    if (own != nullptr && result != kSuccess) physical().let_go(*own);
    if (descriptor && result == kSuccess) physical().exported(handle, *static_cast<int*>(shareable));
    return result;
}

CGPU_HOOK cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, std::size_t bytes, int type,
                                        unsigned long long flags) {
    if (type == kRangeDescriptor && managed()) {
        CUdeviceptr begin = 0;
        std::size_t whole = 0;
        if (!physical().will_export_range(address, bytes) &&
            real::cuMemGetAddressRange_v2(&begin, &whole, address) == kSuccess)
            physical().will_export_allocation(begin);
    }
    return real::cuMemGetHandleForAddressRange(handle, address, bytes, type, flags);
}

CGPU_HOOK cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable, int type) {
    // The descriptor is passed in the pointer argument.
    const int descriptor =
        type == kHandleDescriptor ? static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)) : -1;
    return open_from(
        descriptor, [&] { return *handle; },
        [&] { return real::cuMemImportFromShareableHandle(handle, shareable, type); },
        [] { shared_memory().imported(); });
}

CGPU_HOOK cuImportExternalMemory(CUexternalMemory* memory, const CUexternalMemoryHandleDesc* what) {
    const int descriptor = what != nullptr && what->type == kExternalDescriptor ? what->descriptor : -1;
    return open_from(
        descriptor, [&] { return reinterpret_cast<std::uintptr_t>(*memory); },
        [&] { return real::cuImportExternalMemory(memory, what); },
        [&] { shared_memory().opened(gpu_of_current(), what != nullptr ? what->bytes : 0); });
}

CGPU_HOOK cuDestroyExternalMemory(CUexternalMemory memory) {
    const CUresult result = real::cuDestroyExternalMemory(memory);
    if (result == kSuccess && managed()) physical().handle_released(reinterpret_cast<std::uintptr_t>(memory));
    return result;
}
