// Decompression. Whether a unit of its own does it or the multiprocessors, the driver doesn't say: so all of
// it is measured.
#include <numeric>

#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
#define CGPU_DECOMPRESSIONS CUmemDecompressParams*, std::size_t, unsigned, std::size_t*, CUstream
CGPU_REAL(cuMemBatchDecompressAsync, CGPU_DECOMPRESSIONS)
CGPU_REAL(cuMemBatchDecompressAsync_ptsz, CGPU_DECOMPRESSIONS)
}  // namespace cgpu::front::real

namespace {

/// Programs may leave out how long the results are.
std::uint64_t bytes_of(const CUmemDecompressParams* what, std::size_t count) {
    if (what == nullptr) return 0;
    return std::accumulate(what, what + count, std::uint64_t{0},
                           [](std::uint64_t sum, const CUmemDecompressParams& each) {
                               return sum + each.source_bytes + each.target_bytes;
                           });
}

}  // namespace

CGPU_HOOK cuMemBatchDecompressAsync(CUmemDecompressParams* what, std::size_t count, unsigned flags,
                                    std::size_t* failed, CUstream stream) {
    return gated_transfer(Transfer::decompress, bytes_of(what, count), stream, [&] {
        return real::cuMemBatchDecompressAsync(what, count, flags, failed, stream);
    });
}

CGPU_HOOK cuMemBatchDecompressAsync_ptsz(CUmemDecompressParams* what, std::size_t count, unsigned flags,
                                         std::size_t* failed, CUstream stream) {
    return gated_transfer(Transfer::decompress, bytes_of(what, count), per_thread(stream), [&] {
        return real::cuMemBatchDecompressAsync_ptsz(what, count, flags, failed, stream);
    });
}
