// Physical memory that is bound to multicast objects, which keep it after its handles are released.
#include <new>

#include "module/front/driver/hook.hpp"
#include "module/front/lease/bindings.hpp"
#include "module/front/lease/freeing.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
#define CGPU_MEMORY CUmemGenericAllocationHandle, std::size_t, std::size_t, unsigned long long
#define CGPU_RANGE CUdeviceptr, std::size_t, unsigned long long
CGPU_REAL(cuMulticastBindMem, CUmemGenericAllocationHandle, std::size_t, CGPU_MEMORY)
CGPU_REAL(cuMulticastBindMem_v2, CUmemGenericAllocationHandle, CUdevice, std::size_t, CGPU_MEMORY)
CGPU_REAL(cuMulticastBindAddr, CUmemGenericAllocationHandle, std::size_t, CGPU_RANGE)
CGPU_REAL(cuMulticastBindAddr_v2, CUmemGenericAllocationHandle, CUdevice, std::size_t, CGPU_RANGE)
CGPU_REAL(cuMulticastUnbind, CUmemGenericAllocationHandle, CUdevice, std::size_t, std::size_t)
}  // namespace cgpu::front::real

namespace {

bool managed() { return session().route() == Route::managed; }

template <class Call>
CUresult bind_memory(CUmemGenericAllocationHandle object, std::size_t offset,
                     CUmemGenericAllocationHandle handle, std::size_t bytes, Call call) {
    // Held before the call: another thread may release the handle meanwhile.
    Physical::Memory* own = managed() ? physical().hold_handle(handle) : nullptr;
    const CUresult result = call();
    if (own == nullptr) return result;
    if (result == kSuccess)
        bindings().bound(object, offset, bytes, *own);
    else
        physical().let_go(*own);
    return result;
}

template <class Call>
CUresult bind_range(CUmemGenericAllocationHandle object, std::size_t offset, CUdeviceptr address,
                    std::size_t bytes, Call call) {
    if (!managed()) return call();
    // Held before the call, as above. What can't be noted is held until the process ends.
    struct Held {
        Physical::Memory& memory;
        Held* next;
    };
    Held* held = nullptr;
    const CUdeviceptr end = address + bytes;
    while (Physical::Memory* own = physical().hold_next(address, end))
        if (auto* entry = new (std::nothrow) Held{*own, held}) held = entry;
    const CUresult result = call();
    while (held != nullptr) {
        const Held* each = held;
        held = held->next;
        if (result == kSuccess)
            bindings().bound(object, offset, bytes, each->memory);
        else
            physical().let_go(each->memory);
        delete each;
    }
    return result;
}

}  // namespace

CGPU_HOOK cuMulticastBindMem(CUmemGenericAllocationHandle object, std::size_t offset,
                             CUmemGenericAllocationHandle handle, std::size_t memory_offset,
                             std::size_t bytes, unsigned long long flags) {
    return bind_memory(object, offset, handle, bytes, [&] {
        return real::cuMulticastBindMem(object, offset, handle, memory_offset, bytes, flags);
    });
}

CGPU_HOOK cuMulticastBindMem_v2(CUmemGenericAllocationHandle object, CUdevice device, std::size_t offset,
                                CUmemGenericAllocationHandle handle, std::size_t memory_offset,
                                std::size_t bytes, unsigned long long flags) {
    return bind_memory(object, offset, handle, bytes, [&] {
        return real::cuMulticastBindMem_v2(object, device, offset, handle, memory_offset, bytes, flags);
    });
}

CGPU_HOOK cuMulticastBindAddr(CUmemGenericAllocationHandle object, std::size_t offset, CUdeviceptr address,
                              std::size_t bytes, unsigned long long flags) {
    return bind_range(object, offset, address, bytes,
                      [&] { return real::cuMulticastBindAddr(object, offset, address, bytes, flags); });
}

CGPU_HOOK cuMulticastBindAddr_v2(CUmemGenericAllocationHandle object, CUdevice device, std::size_t offset,
                                 CUdeviceptr address, std::size_t bytes, unsigned long long flags) {
    return bind_range(object, offset, address, bytes, [&] {
        return real::cuMulticastBindAddr_v2(object, device, offset, address, bytes, flags);
    });
}

CGPU_HOOK cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device, std::size_t offset,
                            std::size_t bytes) {
    if (!managed()) return real::cuMulticastUnbind(object, device, offset, bytes);
    const Freeing freeing;
    const CUresult result = real::cuMulticastUnbind(object, device, offset, bytes);
    if (result == kSuccess) bindings().unbound(object, session().gpu_of(device), offset, bytes);
    return result;
}
