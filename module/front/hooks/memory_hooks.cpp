// Device memory at an address: plain and pitch allocations, and their frees.
#include "core/wire/limits.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/lease/freeing.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/memory/charge.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/memory/place.hpp"

using namespace cgpu::front;
using cgpu::module::Holding;

namespace cgpu::front::real {
CGPU_REAL(cuMemAlloc, CUdeviceptr_v1*, unsigned)
CGPU_REAL(cuMemAlloc_v2, CUdeviceptr*, std::size_t)
CGPU_REAL(cuMemAllocPitch, CUdeviceptr_v1*, unsigned*, unsigned, unsigned, unsigned)
CGPU_REAL(cuMemAllocPitch_v2, CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned)
CGPU_REAL(cuMemFree, CUdeviceptr_v1)
CGPU_REAL(cuMemFree_v2, CUdeviceptr)
}  // namespace cgpu::front::real

namespace {

/// The largest alignment to which a driver pads a row: a multiple of 512 bytes (CUDA's texture and pitch
/// alignments are at most that).
constexpr std::uint64_t kPitchAlignment = 512;

template <class Address, class Size>
CUresult allocate(const RealFunction<CUresult(Address*, Size)>& real_call, Address* address, Size bytes) {
    const Place place = place_of_current("cuMemAlloc");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || address == nullptr || bytes == 0) return real_call(address, bytes);
    return charged(place.context->gpu, bytes, Holding::address, place.context->key(), [&](Made& made) {
        const CUresult result = real_call(address, bytes);
        if (result == kSuccess) made.key = *address;
        return result;
    });
}

template <class Address, class Size>
CUresult allocate_pitch(const RealFunction<CUresult(Address*, Size*, Size, Size, unsigned)>& real_call,
                        Address* address, Size* pitch, Size width, Size height, unsigned element) {
    const Place place = place_of_current("cuMemAllocPitch");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || address == nullptr || pitch == nullptr || width == 0 || height == 0) {
        return real_call(address, pitch, width, height, element);
    }
    std::uint64_t row = width;
    std::uint64_t bytes = 0;
    if (__builtin_add_overflow(row, kPitchAlignment - 1, &row)) return kOutOfMemory;
    row = cgpu::wire::align_down(row, kPitchAlignment);
    if (__builtin_mul_overflow(row, std::uint64_t{height}, &bytes)) return kOutOfMemory;
    return charged(place.context->gpu, bytes, Holding::address, place.context->key(), [&](Made& made) {
        const CUresult result = real_call(address, pitch, width, height, element);
        if (result != kSuccess) return result;
        made.key = *address;
        made.bytes = std::uint64_t{*pitch} * height;
        return result;
    });
}

template <class Address>
CUresult free_memory(const RealFunction<CUresult(Address)>& real_call, Address address) {
    if (session().route() != Route::managed) return real_call(address);
    const Freeing freeing;
    const CUresult result = real_call(address);
    if (result != kSuccess || physical().allocation_freed(address) || released(Holding::address, address))
        return result;
    // Memory of a pool can be freed in this way, too.
    const Context* context = current_context();
    if (context != nullptr && context->gpu >= 0 && pools().any(context->gpu))
        pools().look_at_all(context->gpu);
    return result;
}

}  // namespace

CGPU_HOOK cuMemAlloc(CUdeviceptr_v1* address, unsigned bytes) {
    return allocate(real::cuMemAlloc, address, bytes);
}

CGPU_HOOK cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    return allocate(real::cuMemAlloc_v2, address, bytes);
}

CGPU_HOOK cuMemAllocPitch(CUdeviceptr_v1* address, unsigned* pitch, unsigned width, unsigned height,
                          unsigned element) {
    return allocate_pitch(real::cuMemAllocPitch, address, pitch, width, height, element);
}

CGPU_HOOK cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                             unsigned element) {
    return allocate_pitch(real::cuMemAllocPitch_v2, address, pitch, width, height, element);
}

CGPU_HOOK cuMemFree(CUdeviceptr_v1 address) { return free_memory(real::cuMemFree, address); }
CGPU_HOOK cuMemFree_v2(CUdeviceptr address) { return free_memory(real::cuMemFree_v2, address); }
