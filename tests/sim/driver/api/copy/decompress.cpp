#include <cstring>
#include <vector>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/stream/copy_time.hpp"
#include "tests/sim/driver/work/lz4.hpp"

using namespace simgpu;

namespace {

CUresult check(const Memory& memory, const CUmemDecompressParams& each) {
    const auto from = reinterpret_cast<std::uint64_t>(each.src);
    const auto to = reinterpret_cast<std::uint64_t>(each.dst);
    const auto written = reinterpret_cast<std::uint64_t>(each.dstActBytes);
    const bool known = each.algo == CU_MEM_DECOMPRESS_ALGORITHM_LZ4 && each.srcNumBytes > 0 &&
                       memory.covers(from, each.srcNumBytes) && memory.covers(to, each.dstNumBytes) &&
                       memory.covers(written, sizeof(cuuint32_t));
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void run(Context& context, const CUmemDecompressParams& each) {
    const auto* source = at_address<const std::uint8_t>(reinterpret_cast<std::uint64_t>(each.src));
    const auto content = decompress_lz4({source, each.srcNumBytes}, each.dstNumBytes);
    if (!content) return context.fail(CUDA_ERROR_EXTERNAL_DEVICE);
    std::memcpy(each.dst, content->data(), content->size());
    *each.dstActBytes = static_cast<cuuint32_t>(content->size());
}

}  // namespace

extern "C" {

/// The length of the result must be given: what the driver makes of a missing one isn't documented.
CUresult cuMemBatchDecompressAsync(CUmemDecompressParams* list, std::size_t count, unsigned int flags,
                                   std::size_t* failed, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (failed) *failed = SIZE_MAX;
    if (!list || count == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_captured()) return lose_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (const CUresult result = check(stream->context.runtime().memory(), list[i]);
            result != CUDA_SUCCESS) {
            if (failed) *failed = i;
            return result;
        }
        bytes += list[i].srcNumBytes + list[i].dstNumBytes;
    }
    Operation operation;
    operation.effect = [&context = stream->context,
                        all = std::vector<CUmemDecompressParams>(list, list + count)](const Record&) {
        for (const auto& each : all) run(context, each);
    };
    const auto gpu = stream->context.gpu();
    time_copy(operation, {gpu, gpu}, stream->context.runtime().card(stream->context.ordinal()), bytes);
    stream->context.submit(*stream, std::move(operation));
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuMemBatchDecompressAsync,
            (CUmemDecompressParams * list, std::size_t count, unsigned int flags, std::size_t* failed,
             CUstream stream),
            (list, count, flags, failed, per_thread(stream)))

}  // extern "C"
