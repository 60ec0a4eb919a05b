// Memsets, in rows and in boxes.
#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemsetD8_v2, CUdeviceptr, unsigned char, std::size_t)
CGPU_REAL(cuMemsetD8_v2_ptds, CUdeviceptr, unsigned char, std::size_t)
CGPU_REAL(cuMemsetD8Async, CUdeviceptr, unsigned char, std::size_t, CUstream)
CGPU_REAL(cuMemsetD8Async_ptsz, CUdeviceptr, unsigned char, std::size_t, CUstream)
CGPU_REAL(cuMemsetD16_v2, CUdeviceptr, unsigned short, std::size_t)
CGPU_REAL(cuMemsetD16_v2_ptds, CUdeviceptr, unsigned short, std::size_t)
CGPU_REAL(cuMemsetD16Async, CUdeviceptr, unsigned short, std::size_t, CUstream)
CGPU_REAL(cuMemsetD16Async_ptsz, CUdeviceptr, unsigned short, std::size_t, CUstream)
CGPU_REAL(cuMemsetD32_v2, CUdeviceptr, unsigned, std::size_t)
CGPU_REAL(cuMemsetD32_v2_ptds, CUdeviceptr, unsigned, std::size_t)
CGPU_REAL(cuMemsetD32Async, CUdeviceptr, unsigned, std::size_t, CUstream)
CGPU_REAL(cuMemsetD32Async_ptsz, CUdeviceptr, unsigned, std::size_t, CUstream)
CGPU_REAL(cuMemsetD2D8_v2, CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D8_v2_ptds, CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D8Async, CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream)
CGPU_REAL(cuMemsetD2D8Async_ptsz, CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream)
CGPU_REAL(cuMemsetD2D16_v2, CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D16_v2_ptds, CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D16Async, CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream)
CGPU_REAL(cuMemsetD2D16Async_ptsz, CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t,
          CUstream)
CGPU_REAL(cuMemsetD2D32_v2, CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D32_v2_ptds, CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t)
CGPU_REAL(cuMemsetD2D32Async, CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream)
CGPU_REAL(cuMemsetD2D32Async_ptsz, CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream)
}  // namespace cgpu::front::real

namespace {

/// `stream` as the plain functions take it.
template <class Call>
CUresult fill(std::uint64_t bytes, CUstream stream, Call call) {
    return gated_transfer(Transfer::fill, bytes, stream, call);
}

}  // namespace

CGPU_HOOK cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
    return fill(count, nullptr, [&] { return real::cuMemsetD8_v2(to, value, count); });
}

CGPU_HOOK cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, std::size_t count) {
    return fill(count, stream_per_thread(), [&] { return real::cuMemsetD8_v2_ptds(to, value, count); });
}

CGPU_HOOK cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
    return fill(count, stream, [&] { return real::cuMemsetD8Async(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
    return fill(count, per_thread(stream),
                [&] { return real::cuMemsetD8Async_ptsz(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
    return fill(count * 2, nullptr, [&] { return real::cuMemsetD16_v2(to, value, count); });
}

CGPU_HOOK cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, std::size_t count) {
    return fill(count * 2, stream_per_thread(), [&] { return real::cuMemsetD16_v2_ptds(to, value, count); });
}

CGPU_HOOK cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
    return fill(count * 2, stream, [&] { return real::cuMemsetD16Async(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
    return fill(count * 2, per_thread(stream),
                [&] { return real::cuMemsetD16Async_ptsz(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
    return fill(count * 4, nullptr, [&] { return real::cuMemsetD32_v2(to, value, count); });
}

CGPU_HOOK cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, std::size_t count) {
    return fill(count * 4, stream_per_thread(), [&] { return real::cuMemsetD32_v2_ptds(to, value, count); });
}

CGPU_HOOK cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
    return fill(count * 4, stream, [&] { return real::cuMemsetD32Async(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
    return fill(count * 4, per_thread(stream),
                [&] { return real::cuMemsetD32Async_ptsz(to, value, count, stream); });
}

CGPU_HOOK cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                          std::size_t height) {
    return fill(width * height, nullptr,
                [&] { return real::cuMemsetD2D8_v2(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D8_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                               std::size_t height) {
    return fill(width * height, stream_per_thread(),
                [&] { return real::cuMemsetD2D8_v2_ptds(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                            std::size_t height, CUstream stream) {
    return fill(width * height, stream,
                [&] { return real::cuMemsetD2D8Async(to, pitch, value, width, height, stream); });
}

CGPU_HOOK cuMemsetD2D8Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                                 std::size_t height, CUstream stream) {
    return fill(width * height, per_thread(stream),
                [&] { return real::cuMemsetD2D8Async_ptsz(to, pitch, value, width, height, stream); });
}

CGPU_HOOK cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                           std::size_t height) {
    return fill(width * height * 2, nullptr,
                [&] { return real::cuMemsetD2D16_v2(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D16_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                                std::size_t height) {
    return fill(width * height * 2, stream_per_thread(),
                [&] { return real::cuMemsetD2D16_v2_ptds(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                             std::size_t height, CUstream stream) {
    return fill(width * height * 2, stream,
                [&] { return real::cuMemsetD2D16Async(to, pitch, value, width, height, stream); });
}

CGPU_HOOK cuMemsetD2D16Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                                  std::size_t height, CUstream stream) {
    return fill(width * height * 2, per_thread(stream),
                [&] { return real::cuMemsetD2D16Async_ptsz(to, pitch, value, width, height, stream); });
}

CGPU_HOOK cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                           std::size_t height) {
    return fill(width * height * 4, nullptr,
                [&] { return real::cuMemsetD2D32_v2(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D32_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                                std::size_t height) {
    return fill(width * height * 4, stream_per_thread(),
                [&] { return real::cuMemsetD2D32_v2_ptds(to, pitch, value, width, height); });
}

CGPU_HOOK cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                             std::size_t height, CUstream stream) {
    return fill(width * height * 4, stream,
                [&] { return real::cuMemsetD2D32Async(to, pitch, value, width, height, stream); });
}

CGPU_HOOK cuMemsetD2D32Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                                  std::size_t height, CUstream stream) {
    return fill(width * height * 4, per_thread(stream),
                [&] { return real::cuMemsetD2D32Async_ptsz(to, pitch, value, width, height, stream); });
}
