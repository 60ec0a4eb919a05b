// Batches of copies. Like a single copy, a batch is gated if it stays within a GPU.
#include <numeric>

#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
#define CGPU_COPIES CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, void*, std::size_t*, std::size_t
CGPU_REAL(cuMemcpyBatchAsync, CGPU_COPIES, std::size_t*, CUstream)
CGPU_REAL(cuMemcpyBatchAsync_ptsz, CGPU_COPIES, std::size_t*, CUstream)
CGPU_REAL(cuMemcpyBatchAsync_v2, CGPU_COPIES, CUstream)
CGPU_REAL(cuMemcpyBatchAsync_v2_ptsz, CGPU_COPIES, CUstream)
#define CGPU_BOXES std::size_t, CUmemcpy3DOp*
CGPU_REAL(cuMemcpy3DBatchAsync, CGPU_BOXES, std::size_t*, unsigned long long, CUstream)
CGPU_REAL(cuMemcpy3DBatchAsync_ptsz, CGPU_BOXES, std::size_t*, unsigned long long, CUstream)
CGPU_REAL(cuMemcpy3DBatchAsync_v2, CGPU_BOXES, unsigned long long, CUstream)
CGPU_REAL(cuMemcpy3DBatchAsync_v2_ptsz, CGPU_BOXES, unsigned long long, CUstream)
}  // namespace cgpu::front::real

namespace {

/// The program's copies; `count` of each.
struct Copies {
    const CUdeviceptr* to;
    const CUdeviceptr* from;
    const std::size_t* bytes;
    std::size_t count;
};

/// Batches may have thousands of copies, and the driver takes longer to identify an address than to accept a
/// copy. So the first copy decides for all: a batch carries pages of one cache to another place.
bool is_work(const Copies& copies) {
    return copies.count > 0 && copies.to != nullptr && copies.from != nullptr && copies.bytes != nullptr &&
           session().route() == Route::managed && within_a_gpu(copies.to[0], copies.from[0]);
}

/// `stream` as the plain functions take it.
template <class Call>
CUresult copy_batch(const Copies& copies, CUstream stream, Call call) {
    if (!is_work(copies)) return call();
    const auto bytes = std::accumulate(copies.bytes, copies.bytes + copies.count, std::uint64_t{0});
    return gated_transfer(Transfer::copy, bytes, stream, call);
}

/// The same for boxes.
template <class Call>
CUresult copy_boxes(const CUmemcpy3DOp* boxes, std::size_t count, CUstream stream, Call call) {
    if (count == 0 || boxes == nullptr || session().route() != Route::managed || !within_a_gpu(boxes[0]))
        return call();
    const auto bytes =
        std::accumulate(boxes, boxes + count, std::uint64_t{0},
                        [](std::uint64_t sum, const CUmemcpy3DOp& each) { return sum + most_bytes(each); });
    return gated_transfer(Transfer::copy, bytes, stream, call);
}

}  // namespace

CGPU_HOOK cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                             void* attributes, std::size_t* indices, std::size_t attribute_count,
                             std::size_t* failed, CUstream stream) {
    return copy_batch({to, from, bytes, count}, stream, [&] {
        return real::cuMemcpyBatchAsync(to, from, bytes, count, attributes, indices, attribute_count, failed,
                                        stream);
    });
}

CGPU_HOOK cuMemcpyBatchAsync_ptsz(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                                  void* attributes, std::size_t* indices, std::size_t attribute_count,
                                  std::size_t* failed, CUstream stream) {
    return copy_batch({to, from, bytes, count}, per_thread(stream), [&] {
        return real::cuMemcpyBatchAsync_ptsz(to, from, bytes, count, attributes, indices, attribute_count,
                                             failed, stream);
    });
}

CGPU_HOOK cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                                void* attributes, std::size_t* indices, std::size_t attribute_count,
                                CUstream stream) {
    return copy_batch({to, from, bytes, count}, stream, [&] {
        return real::cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, indices, attribute_count,
                                           stream);
    });
}

CGPU_HOOK cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                     std::size_t count, void* attributes, std::size_t* indices,
                                     std::size_t attribute_count, CUstream stream) {
    return copy_batch({to, from, bytes, count}, per_thread(stream), [&] {
        return real::cuMemcpyBatchAsync_v2_ptsz(to, from, bytes, count, attributes, indices, attribute_count,
                                                stream);
    });
}

CGPU_HOOK cuMemcpy3DBatchAsync(std::size_t count, CUmemcpy3DOp* boxes, std::size_t* failed,
                               unsigned long long flags, CUstream stream) {
    return copy_boxes(boxes, count, stream,
                      [&] { return real::cuMemcpy3DBatchAsync(count, boxes, failed, flags, stream); });
}

CGPU_HOOK cuMemcpy3DBatchAsync_ptsz(std::size_t count, CUmemcpy3DOp* boxes, std::size_t* failed,
                                    unsigned long long flags, CUstream stream) {
    return copy_boxes(boxes, count, per_thread(stream),
                      [&] { return real::cuMemcpy3DBatchAsync_ptsz(count, boxes, failed, flags, stream); });
}

CGPU_HOOK cuMemcpy3DBatchAsync_v2(std::size_t count, CUmemcpy3DOp* boxes, unsigned long long flags,
                                  CUstream stream) {
    return copy_boxes(boxes, count, stream,
                      [&] { return real::cuMemcpy3DBatchAsync_v2(count, boxes, flags, stream); });
}

CGPU_HOOK cuMemcpy3DBatchAsync_v2_ptsz(std::size_t count, CUmemcpy3DOp* boxes, unsigned long long flags,
                                       CUstream stream) {
    return copy_boxes(boxes, count, per_thread(stream),
                      [&] { return real::cuMemcpy3DBatchAsync_v2_ptsz(count, boxes, flags, stream); });
}
