// Memory figures for programs: the instance's limit and what the whole instance has used of it.
#include <algorithm>
#include <array>
#include <limits>

#include "module/front/driver/hook.hpp"
#include "module/front/memory/place.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemGetInfo, unsigned*, unsigned*)
CGPU_REAL(cuMemGetInfo_v2, std::size_t*, std::size_t*)
CGPU_REAL(cuDeviceTotalMem, unsigned*, CUdevice)
CGPU_REAL(cuDeviceTotalMem_v2, std::size_t*, CUdevice)
CGPU_REAL(cuDeviceGetAttribute, int*, int, CUdevice)
}  // namespace cgpu::front::real

namespace {

constexpr std::int64_t kUsageTimeout = kSecond;

/// For each GPU, for the time when the daemon is away.
constinit std::array<std::atomic<std::uint64_t>, cgpu::wire::kMaxGpus> last_known_used{};

/// Bytes used by the whole instance.
std::uint64_t used_bytes(std::uint32_t gpu) {
    auto& last_known = last_known_used[gpu];
    cgpu::wire::Answer answer{};
    if (session().link().ask(cgpu::wire::Topic::usage, gpu, 0, now_ns() + kUsageTimeout, false, answer)) {
        last_known.store(answer.used_bytes);
        return answer.used_bytes;
    }
    return std::max(last_known.load(), session().engine().charged(gpu));
}

template <class Size>
Size clamped(std::uint64_t bytes) {
    return static_cast<Size>(std::min<std::uint64_t>(bytes, std::numeric_limits<Size>::max()));
}

template <class Size>
CUresult memory_info(const RealFunction<CUresult(Size*, Size*)>& real_call, Size* free, Size* total) {
    const CUresult result = real_call(free, total);
    if (result != kSuccess) return result;
    const Place place = place_of_current("cuMemGetInfo");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass) return result;
    const auto gpu = static_cast<std::uint32_t>(place.context->gpu);
    const auto limit = session().limit_bytes(gpu);
    const auto used = std::min(used_bytes(gpu), limit);
    if (total != nullptr) *total = clamped<Size>(limit);
    if (free != nullptr) *free = clamped<Size>(limit - used);
    return result;
}

template <class Size>
CUresult total_memory(const RealFunction<CUresult(Size*, CUdevice)>& real_call, Size* total,
                      CUdevice device) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;  // the card's own size is not the program's
    const CUresult result = real_call(total, device);
    if (result != kSuccess || total == nullptr || route != Route::managed) return result;
    const int gpu = session().gpu_of(device);
    if (session().isolates(gpu))
        *total = clamped<Size>(session().limit_bytes(static_cast<std::uint32_t>(gpu)));
    return result;
}

/// Memory that the driver moves by itself can't be limited, so no program may rely on it.
bool offers_managed_memory(int attribute) {
    return attribute == kAttributeManagedMemory || attribute == kAttributeConcurrentManagedAccess ||
           attribute == kAttributePageableMemoryAccess || attribute == kAttributePageableUsesHostPageTables ||
           attribute == kAttributeDirectManagedFromHost;
}

}  // namespace

CGPU_HOOK cuMemGetInfo(unsigned* free, unsigned* total) {
    return memory_info(real::cuMemGetInfo, free, total);
}

CGPU_HOOK cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return memory_info(real::cuMemGetInfo_v2, free, total);
}

CGPU_HOOK cuDeviceTotalMem(unsigned* bytes, CUdevice device) {
    return total_memory(real::cuDeviceTotalMem, bytes, device);
}

CGPU_HOOK cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    return total_memory(real::cuDeviceTotalMem_v2, bytes, device);
}

CGPU_HOOK cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    const CUresult result = real::cuDeviceGetAttribute(value, attribute, device);
    if (result != kSuccess || value == nullptr || !offers_managed_memory(attribute)) return result;
    if (session().route() == Route::managed && session().isolates(session().gpu_of(device))) *value = 0;
    return result;
}
