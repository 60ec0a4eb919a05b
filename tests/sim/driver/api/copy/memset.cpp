#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy.hpp"

using namespace simgpu;

namespace {

CUresult set(CUstream handle, CUdeviceptr to, std::size_t pitch, std::uint32_t value,
             std::size_t element_bytes, std::size_t count, std::size_t rows, Completion completion) {
    Stream* stream = nullptr;
    const CUresult found = find_stream_for_work(handle, completion, stream);
    if (found != CUDA_SUCCESS) return found;
    return submit_set(*stream, {to, pitch, value, element_bytes, count, rows}, completion);
}

}  // namespace

// name: cuMemset<name>; type: of the value; bytes: of one element
#define SIMGPU_MEMSET(name, flat, type, bytes)                                                           \
    CUresult cuMemset##name##_v2(CUdeviceptr to, type value, std::size_t count) {                        \
        return set(CU_STREAM_LEGACY, to, 0, value, bytes, count, 1, Completion::wait);                   \
    }                                                                                                    \
    CUresult cuMemset##name##_v2_ptds(CUdeviceptr to, type value, std::size_t count) {                   \
        return set(CU_STREAM_PER_THREAD, to, 0, value, bytes, count, 1, Completion::wait);               \
    }                                                                                                    \
    CUresult cuMemset##name##Async(CUdeviceptr to, type value, std::size_t count, CUstream stream) {     \
        return set(stream, to, 0, value, bytes, count, 1, Completion::in_stream_order);                  \
    }                                                                                                    \
    SIMGPU_PTSZ(cuMemset##name##Async, (CUdeviceptr to, type value, std::size_t count, CUstream stream), \
                (to, value, count, per_thread(stream)))                                                  \
    CUresult cuMemset##flat##_v2(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,       \
                                 std::size_t height) {                                                   \
        return set(CU_STREAM_LEGACY, to, pitch, value, bytes, width, height, Completion::wait);          \
    }                                                                                                    \
    CUresult cuMemset##flat##_v2_ptds(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,  \
                                      std::size_t height) {                                              \
        return set(CU_STREAM_PER_THREAD, to, pitch, value, bytes, width, height, Completion::wait);      \
    }                                                                                                    \
    CUresult cuMemset##flat##Async(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,     \
                                   std::size_t height, CUstream stream) {                                \
        return set(stream, to, pitch, value, bytes, width, height, Completion::in_stream_order);         \
    }                                                                                                    \
    SIMGPU_PTSZ(cuMemset##flat##Async,                                                                   \
                (CUdeviceptr to, std::size_t pitch, type value, std::size_t width, std::size_t height,   \
                 CUstream stream),                                                                       \
                (to, pitch, value, width, height, per_thread(stream)))

extern "C" {

SIMGPU_MEMSET(D8, D2D8, unsigned char, 1)
SIMGPU_MEMSET(D16, D2D16, unsigned short, 2)
SIMGPU_MEMSET(D32, D2D32, unsigned int, 4)

}  // extern "C"
