#include "module/front/memory/local_memory.hpp"

#include "module/front/driver/real_driver.hpp"
#include "module/front/session/session.hpp"
#include "module/front/sizes/code_table.hpp"

namespace cgpu::front {

namespace real {
CGPU_REAL(cuFuncGetAttribute, int*, int, CUfunction)
CGPU_REAL(cuKernelGetAttribute, int*, int, CUkernel, CUdevice)
}  // namespace real

std::uint64_t local_bytes_of(const Context& context, const void* function) {
    int bytes = 0;
    CUresult result = kNotFound;
    void* handle = const_cast<void*>(function);
    switch (code_table().part(reinterpret_cast<std::uintptr_t>(handle))) {
        case CodeTable::Part::other:
            return 0;
        case CodeTable::Part::function:
            result = real::cuFuncGetAttribute(&bytes, kAttributeLocalBytes, static_cast<CUfunction>(handle));
            break;
        case CodeTable::Part::kernel:
            result = real::cuKernelGetAttribute(&bytes, kAttributeLocalBytes, static_cast<CUkernel>(handle),
                                                session().device_of(static_cast<std::uint32_t>(context.gpu)));
            break;
    }
    return result == kSuccess && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

void local_memory_taken(Context& context, std::uint64_t bytes_a_thread) {
    auto& taken = context.local_bytes_a_thread;
    auto before = taken.load();
    while (before < bytes_a_thread && !taken.compare_exchange_weak(before, bytes_a_thread)) continue;
}

}  // namespace cgpu::front
