#include "tests/sim/driver/work/copy.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/stream/copy_time.hpp"

namespace simgpu {

namespace {

std::size_t span(std::size_t width, std::size_t rows, std::size_t pitch) {
    return rows == 0 ? 0 : (rows - 1) * pitch + width;
}

void copy_rows(const Transfer& transfer) {
    for (std::size_t layer = 0; layer < transfer.layers; ++layer) {
        for (std::size_t row = 0; row < transfer.rows; ++row) {
            const std::size_t to = layer * transfer.to_layer + row * transfer.to_pitch;
            const std::size_t from = layer * transfer.from_layer + row * transfer.from_pitch;
            std::memmove(at_address(transfer.to + to), at_address<const void>(transfer.from + from),
                         transfer.width);
        }
    }
}

void set_row(std::uint64_t to, const Fill& fill) {
    auto* at = at_address<char>(to);
    if (fill.element_bytes == 1) {
        std::memset(at, static_cast<int>(fill.value & 0xff), fill.count);
        return;
    }
    for (std::size_t i = 0; i < fill.count; ++i) {
        std::memcpy(at + i * fill.element_bytes, &fill.value, fill.element_bytes);
    }
}

std::optional<std::uint32_t> gpu_of(Runtime& runtime, std::uint64_t address) {
    const auto allocation = runtime.memory().find(address);
    if (!allocation || allocation->on_host() || allocation->ordinal == kMaxGpus) return std::nullopt;
    return runtime.gpu_of(allocation->ordinal);
}

CopyStep copy_step(const Context& context, const Transfer& transfer) {
    const Memory& memory = context.runtime().memory();
    const auto type = [&memory](std::uint64_t address) {
        const auto allocation = memory.find(address);
        return allocation && !allocation->on_host() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    };
    CopyStep step{};
    CUDA_MEMCPY3D& copy = step.copy;
    copy.srcMemoryType = type(transfer.from);
    copy.srcHost = at_address<const void>(transfer.from);
    copy.srcDevice = transfer.from;
    copy.srcPitch = transfer.from_pitch;
    copy.srcHeight = transfer.from_pitch ? transfer.from_layer / transfer.from_pitch : 0;
    copy.dstMemoryType = type(transfer.to);
    copy.dstHost = at_address(transfer.to);
    copy.dstDevice = transfer.to;
    copy.dstPitch = transfer.to_pitch;
    copy.dstHeight = transfer.to_pitch ? transfer.to_layer / transfer.to_pitch : 0;
    copy.WidthInBytes = transfer.width;
    copy.Height = transfer.rows;
    copy.Depth = transfer.layers;
    return step;
}

}  // namespace

CUresult wait_for(Stream& stream, std::uint64_t sequence) {
    Runtime& runtime = stream.context.runtime();
    runtime.observer().wait(stream.queue, sequence);
    return stream.context.error();
}

CUresult submit_copy(Stream& stream, const Transfer& transfer, Completion completion) {
    if (transfer.bytes() == 0) return CUDA_SUCCESS;
    Runtime& runtime = stream.context.runtime();
    const Memory& memory = runtime.memory();
    const std::size_t from_span = (transfer.layers - 1) * transfer.from_layer +
                                  span(transfer.width, transfer.rows, transfer.from_pitch);
    const std::size_t to_span =
        (transfer.layers - 1) * transfer.to_layer + span(transfer.width, transfer.rows, transfer.to_pitch);
    if (memory.refuses_all(transfer.from, from_span, CU_MEM_ACCESS_FLAGS_PROT_READ) ||
        memory.refuses_all(transfer.to, to_span, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (completion == Completion::in_stream_order && stream.is_captured()) {
        return capture_step(stream, copy_step(stream.context, transfer));
    }
    Operation operation;
    if (completion == Completion::in_stream_order && !memory.covers(transfer.from, from_span)) {
        const auto* begin = at_address<const char>(transfer.from);
        const auto staged = std::make_shared<std::vector<char>>(begin, begin + from_span);
        Transfer rest = transfer;
        rest.from = reinterpret_cast<std::uint64_t>(staged->data());
        operation.effect = [rest, staged](const Record&) { copy_rows(rest); };
    } else {
        operation.effect = [transfer](const Record&) { copy_rows(transfer); };
    }
    time_copy(operation, {gpu_of(runtime, transfer.to), gpu_of(runtime, transfer.from)},
              runtime.card(stream.context.ordinal()), transfer.bytes());
    if (completion == Completion::in_stream_order && !memory.find(transfer.to)) completion = Completion::wait;
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    return completion == Completion::wait ? wait_for(stream, sequence) : CUDA_SUCCESS;
}

CUresult submit_set(Stream& stream, const Fill& fill, Completion completion) {
    if (fill.bytes() == 0) return CUDA_SUCCESS;
    const std::size_t bytes = span(fill.count * fill.element_bytes, fill.rows, fill.pitch);
    const Memory& memory = stream.context.runtime().memory();
    if (!memory.covers(fill.to, bytes) ||
        memory.refuses_all(fill.to, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (completion == Completion::in_stream_order && stream.is_captured()) {
        return capture_step(stream, fill);
    }
    Operation operation;
    operation.effect = [fill](const Record&) {
        for (std::size_t row = 0; row < fill.rows; ++row) set_row(fill.to + row * fill.pitch, fill);
    };
    time_set(operation, stream.context.runtime().card(stream.context.ordinal()), fill.bytes());
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    return completion == Completion::wait ? wait_for(stream, sequence) : CUDA_SUCCESS;
}

}  // namespace simgpu
