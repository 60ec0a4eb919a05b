#include <atomic>
#include <cerrno>
#include <cstdint>

#include "module/front/driver/real_library.hpp"

// From stubs.S: the table of addresses for the stubs, and the room as fit_exports() has filled it.
extern "C" {
extern std::atomic<const void*> cgpu_front_stub_addresses[];
extern const char cgpu_front_export_room[];
extern const std::uint32_t cgpu_front_stub_names[];  ///< of each stub, where in the room its name lies
/// The address that a stub must jump to, looked up by its function's name. Each stub calls this until it is
/// known.
const void* cgpu_front_stub_address(std::uint32_t stub);
}

extern "C" const void* cgpu_front_stub_address(std::uint32_t stub) {
    const char* name = cgpu_front_export_room + cgpu_front_stub_names[stub];
    const int kept = errno;
    const void* address = cgpu::front::real_address(name);
    errno = kept;
    if (address == nullptr) return cgpu::front::answer_without_library(name);
    cgpu_front_stub_addresses[stub].store(address, std::memory_order_release);
    return address;
}
