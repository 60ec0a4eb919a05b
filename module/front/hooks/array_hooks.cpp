// CUDA arrays and mipmapped arrays, and physical memory that is mapped into them.
#include "module/front/driver/hook.hpp"
#include "module/front/lease/bindings.hpp"
#include "module/front/lease/freeing.hpp"
#include "module/front/memory/charge.hpp"
#include "module/front/memory/place.hpp"
#include "module/front/sizes/array_size.hpp"

using namespace cgpu::front;
using cgpu::module::Holding;

namespace cgpu::front::real {
CGPU_REAL(cuArrayCreate, CUarray*, const ArrayDescriptorV1*)
CGPU_REAL(cuArrayCreate_v2, CUarray*, const ArrayDescriptor*)
CGPU_REAL(cuArray3DCreate, CUarray*, const Array3DDescriptorV1*)
CGPU_REAL(cuArray3DCreate_v2, CUarray*, const Array3DDescriptor*)
CGPU_REAL(cuArrayDestroy, CUarray)
CGPU_REAL(cuMipmappedArrayCreate, CUmipmappedArray*, const Array3DDescriptor*, unsigned)
CGPU_REAL(cuMipmappedArrayDestroy, CUmipmappedArray)
CGPU_REAL(cuMemMapArrayAsync, CUarrayMapInfo*, unsigned, CUstream)
CGPU_REAL(cuMemMapArrayAsync_ptsz, CUarrayMapInfo*, unsigned, CUstream)
}  // namespace cgpu::front::real

namespace {

/// Charges what `call` makes at `*handle`; `bytes` is only computed if it is needed, after the check of the
/// arguments.
template <class Handle, class Bytes, class Call>
CUresult create(const char* what, Handle* handle, const void* descriptor, Bytes bytes, Call call) {
    const Place place = place_of_current(what);
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || handle == nullptr || descriptor == nullptr) return call();
    const std::uint64_t size = bytes();
    if (size == 0) return call();
    return charged(place.context->gpu, size, Holding::array, place.context->key(), [&](Made& made) {
        const CUresult result = call();
        if (result == kSuccess) made.key = reinterpret_cast<std::uintptr_t>(*handle);
        return result;
    });
}

template <class Handle>
CUresult destroy(const RealFunction<CUresult(Handle)>& real_call, Handle handle) {
    if (session().route() != Route::managed) return real_call(handle);
    const Freeing freeing;
    const CUresult result = real_call(handle);
    if (result != kSuccess) return result;
    released(Holding::array, reinterpret_cast<std::uintptr_t>(handle));
    bindings().array_destroyed(handle);
    return result;
}

/// Parts of a list may have been mapped although the call failed.
CUresult mapped(CUresult result, const CUarrayMapInfo* list, unsigned count) {
    if ((result != kSuccess && count < 2) || list == nullptr || session().route() != Route::managed)
        return result;
    for (const CUarrayMapInfo* each = list; each != list + count; ++each) {
        if (each->operation != kArrayMap || each->handle_type != kArrayMemoryGeneric) continue;
        Physical::Memory* own = physical().hold_handle(each->memory);
        if (own != nullptr) bindings().mapped(each->resource, *own);
    }
    return result;
}

template <class Descriptor>
Array3DDescriptor flat(const Descriptor& array) {
    return {array.width, array.height, 0, array.format, array.channels, 0};
}

}  // namespace

CGPU_HOOK cuArrayCreate(CUarray* handle, const ArrayDescriptorV1* array) {
    return create(
        "cuArrayCreate", handle, array, [&] { return array_bytes(flat(*array)); },
        [&] { return real::cuArrayCreate(handle, array); });
}

CGPU_HOOK cuArrayCreate_v2(CUarray* handle, const ArrayDescriptor* array) {
    return create(
        "cuArrayCreate", handle, array, [&] { return array_bytes(flat(*array)); },
        [&] { return real::cuArrayCreate_v2(handle, array); });
}

CGPU_HOOK cuArray3DCreate(CUarray* handle, const Array3DDescriptorV1* array) {
    const auto bytes = [&] {
        return array_bytes(
            {array->width, array->height, array->depth, array->format, array->channels, array->flags});
    };
    return create("cuArray3DCreate", handle, array, bytes,
                  [&] { return real::cuArray3DCreate(handle, array); });
}

CGPU_HOOK cuArray3DCreate_v2(CUarray* handle, const Array3DDescriptor* array) {
    return create(
        "cuArray3DCreate", handle, array, [&] { return array_bytes(*array); },
        [&] { return real::cuArray3DCreate_v2(handle, array); });
}

CGPU_HOOK cuMipmappedArrayCreate(CUmipmappedArray* handle, const Array3DDescriptor* array, unsigned levels) {
    return create(
        "cuMipmappedArrayCreate", handle, array, [&] { return mipmap_bytes(*array, levels); },
        [&] { return real::cuMipmappedArrayCreate(handle, array, levels); });
}

CGPU_HOOK cuArrayDestroy(CUarray handle) { return destroy(real::cuArrayDestroy, handle); }
CGPU_HOOK cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    return destroy(real::cuMipmappedArrayDestroy, handle);
}

CGPU_HOOK cuMemMapArrayAsync(CUarrayMapInfo* list, unsigned count, CUstream stream) {
    return mapped(real::cuMemMapArrayAsync(list, count, stream), list, count);
}

CGPU_HOOK cuMemMapArrayAsync_ptsz(CUarrayMapInfo* list, unsigned count, CUstream stream) {
    return mapped(real::cuMemMapArrayAsync_ptsz(list, count, stream), list, count);
}
