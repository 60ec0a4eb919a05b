// Copies of a number of bytes from or to an array: row after row, without the padding.
#include <algorithm>

#include "tests/sim/driver/memory/array.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy.hpp"

using namespace simgpu;

namespace {

/// An array, or memory without rows.
struct Bytes {
    const Array* array;
    std::uint64_t offset;  ///< In the array, or the address.

    bool holds(std::uint64_t count) const {
        if (!array) return offset != 0;
        const ArrayLayout& layout = array->layout;
        const std::uint64_t all = layout.row_bytes * layout.rows * layout.slices;
        return array->address != 0 && offset <= all && count <= all - offset;
    }
    std::uint64_t address() const {
        if (!array) return offset;
        const ArrayLayout& layout = array->layout;
        const std::uint64_t row = offset / layout.row_bytes;
        return array->address + row / layout.rows * layout.slice_pitch + row % layout.rows * layout.pitch +
               offset % layout.row_bytes;
    }
    /// Returns how many of the next `count` bytes are contiguous.
    std::uint64_t together(std::uint64_t count) const {
        return array ? std::min(count, array->layout.row_bytes - offset % array->layout.row_bytes) : count;
    }
    /// Returns how many rows of so many bytes follow at equal distances from here on, this one included.
    std::uint64_t rows(std::uint64_t bytes) const {
        if (!array) return SIZE_MAX;
        const ArrayLayout& layout = array->layout;
        return bytes < layout.row_bytes ? 1 : layout.rows - offset / layout.row_bytes % layout.rows;
    }
    std::uint64_t pitch(std::uint64_t bytes) const { return array ? array->layout.pitch : bytes; }
};

/// For a handle that is no array it returns memory that holds nothing.
Bytes part_of(CUarray handle, std::size_t offset) {
    const Array* array = from_handle<Array>(handle);
    return {array, array ? offset : 0};
}
Bytes memory(CUdeviceptr pointer) { return {nullptr, pointer}; }
Bytes memory(const void* pointer) { return {nullptr, reinterpret_cast<std::uint64_t>(pointer)}; }

/// Returns what can be moved at once of `count` bytes: whole rows of one slice, or part of a row.
Transfer next_part(const Bytes& to, const Bytes& from, std::uint64_t count) {
    const std::uint64_t row = std::min(to.together(count), from.together(count));
    const std::uint64_t rows = std::min({count / row, to.rows(row), from.rows(row)});
    return {to.address(), from.address(), row, rows, to.pitch(row), from.pitch(row)};
}

CUresult copy(CUstream handle, Bytes to, Bytes from, std::uint64_t count, Completion completion) {
    Stream* stream = nullptr;
    const CUresult found = find_stream_for_work(handle, completion, stream);
    if (found != CUDA_SUCCESS) return found;
    if (!to.holds(count) || !from.holds(count)) return CUDA_ERROR_INVALID_VALUE;
    while (count > 0) {
        const Transfer part = next_part(to, from, count);
        count -= part.bytes();
        const Completion last = count == 0 ? completion : Completion::in_stream_order;
        const CUresult result = submit_copy(*stream, part, last);
        if (result != CUDA_SUCCESS) return result;
        to.offset += part.bytes();
        from.offset += part.bytes();
    }
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

// name: of the function; types and to, from: its two places
#define SIMGPU_ARRAY_COPY(name, parameters, to, from)                                              \
    CUresult name parameters { return copy(CU_STREAM_LEGACY, to, from, count, Completion::wait); } \
    CUresult name##_ptds parameters { return copy(CU_STREAM_PER_THREAD, to, from, count, Completion::wait); }

SIMGPU_ARRAY_COPY(cuMemcpyDtoA_v2, (CUarray array, std::size_t offset, CUdeviceptr device, std::size_t count),
                  part_of(array, offset), memory(device))
SIMGPU_ARRAY_COPY(cuMemcpyAtoD_v2, (CUdeviceptr device, CUarray array, std::size_t offset, std::size_t count),
                  memory(device), part_of(array, offset))
SIMGPU_ARRAY_COPY(cuMemcpyHtoA_v2, (CUarray array, std::size_t offset, const void* host, std::size_t count),
                  part_of(array, offset), memory(host))
SIMGPU_ARRAY_COPY(cuMemcpyAtoH_v2, (void* host, CUarray array, std::size_t offset, std::size_t count),
                  memory(host), part_of(array, offset))
SIMGPU_ARRAY_COPY(cuMemcpyAtoA_v2,
                  (CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                   std::size_t count),
                  part_of(to, to_offset), part_of(from, from_offset))

CUresult cuMemcpyHtoAAsync_v2(CUarray array, std::size_t offset, const void* host, std::size_t count,
                              CUstream stream) {
    return copy(stream, part_of(array, offset), memory(host), count, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyHtoAAsync_v2,
            (CUarray array, std::size_t offset, const void* host, std::size_t count, CUstream stream),
            (array, offset, host, count, per_thread(stream)))

CUresult cuMemcpyAtoHAsync_v2(void* host, CUarray array, std::size_t offset, std::size_t count,
                              CUstream stream) {
    return copy(stream, memory(host), part_of(array, offset), count, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyAtoHAsync_v2,
            (void* host, CUarray array, std::size_t offset, std::size_t count, CUstream stream),
            (host, array, offset, count, per_thread(stream)))

}  // extern "C"
