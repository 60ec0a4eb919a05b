#include "tests/sim/driver/transfer.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "tests/sim/driver/runtime.hpp"

namespace simgpu {

namespace {

std::size_t span(std::size_t width, std::size_t rows, std::size_t pitch) {
    return rows == 0 ? 0 : (rows - 1) * pitch + width;
}

void copy_rows(const Transfer& transfer) {
    for (std::size_t row = 0; row < transfer.rows; ++row) {
        std::memmove(reinterpret_cast<void*>(transfer.to + row * transfer.to_pitch),
                     reinterpret_cast<const void*>(transfer.from + row * transfer.from_pitch),
                     transfer.width);
    }
}

void set_row(std::uint64_t to, std::uint32_t value, std::size_t element_bytes, std::size_t count) {
    auto* at = reinterpret_cast<char*>(to);
    if (element_bytes == 1) {
        std::memset(at, static_cast<int>(value & 0xff), count);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) std::memcpy(at + i * element_bytes, &value, element_bytes);
}

}  // namespace

CUresult wait_for(Stream& stream, std::uint64_t sequence) {
    Runtime& runtime = stream.context.runtime();
    runtime.observer().wait(stream.queue, sequence);
    return stream.context.error();
}

CUresult submit_copy(Stream& stream, const Transfer& transfer, Completion completion) {
    if (transfer.width == 0 || transfer.rows == 0) return CUDA_SUCCESS;
    const Memory& memory = stream.context.runtime().memory();
    const std::size_t from_span = span(transfer.width, transfer.rows, transfer.from_pitch);
    const std::size_t to_span = span(transfer.width, transfer.rows, transfer.to_pitch);
    if (memory.refuses_all(transfer.from, from_span, CU_MEM_ACCESS_FLAGS_PROT_READ) ||
        memory.refuses_all(transfer.to, to_span, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    Operation operation;
    if (completion == Completion::in_stream_order && !memory.covers(transfer.from, from_span)) {
        const auto* begin = reinterpret_cast<const char*>(transfer.from);
        const auto staged = std::make_shared<std::vector<char>>(begin, begin + from_span);
        Transfer rest = transfer;
        rest.from = reinterpret_cast<std::uint64_t>(staged->data());
        operation.effect = [rest, staged](const Record&) { copy_rows(rest); };
    } else {
        operation.effect = [transfer](const Record&) { copy_rows(transfer); };
    }
    if (!memory.find(transfer.to)) completion = Completion::wait;
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    return completion == Completion::wait ? wait_for(stream, sequence) : CUDA_SUCCESS;
}

CUresult submit_set(Stream& stream, std::uint64_t to, std::size_t pitch, std::uint32_t value,
                    std::size_t element_bytes, std::size_t count, std::size_t rows, Completion completion) {
    if (count == 0 || rows == 0) return CUDA_SUCCESS;
    const std::size_t bytes = span(count * element_bytes, rows, pitch);
    const Memory& memory = stream.context.runtime().memory();
    if (!memory.covers(to, bytes) || memory.refuses_all(to, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    Operation operation;
    operation.effect = [=](const Record&) {
        for (std::size_t row = 0; row < rows; ++row) set_row(to + row * pitch, value, element_bytes, count);
    };
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    return completion == Completion::wait ? wait_for(stream, sequence) : CUDA_SUCCESS;
}

}  // namespace simgpu
