#include "tests/sim/driver/stream/copy_time.hpp"

namespace simgpu {

namespace {

constexpr std::uint32_t kToDevice = 0;
constexpr std::uint32_t kFromDevice = 1;
constexpr std::uint64_t kDefaultMemoryBytesPerSecond = 100'000'000'000;

Nanoseconds time_of(std::uint64_t bytes, std::uint64_t bytes_per_second) {
    return static_cast<Nanoseconds>(static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_second));
}

}  // namespace

std::uint64_t memory_bytes_per_second(const Card& card) {
    const auto clock = static_cast<std::uint64_t>(card.memory_clock_mhz) * 1'000'000;
    const std::uint64_t bytes = clock * 2 * static_cast<std::uint64_t>(card.memory_bus_bits) / 8;
    return bytes > 0 ? bytes : kDefaultMemoryBytesPerSecond;
}

void time_copy(Operation& operation, const CopyRoute& route, const Card& card, std::uint64_t bytes) {
    if (bytes < kTimedFrom || (!route.to_gpu && !route.from_gpu)) return;
    if (route.to_gpu == route.from_gpu) {
        operation.kind = RecordKind::kernel;
        operation.duration = time_of(2 * bytes, memory_bytes_per_second(card));
        return;
    }
    operation.kind = RecordKind::copy;
    operation.engine = route.from_gpu ? kFromDevice : kToDevice;
    operation.duration = time_of(bytes, kLinkBytesPerSecond);
}

void time_set(Operation& operation, const Card& card, std::uint64_t bytes) {
    if (bytes < kTimedFrom) return;
    operation.kind = RecordKind::kernel;
    operation.duration = time_of(bytes, memory_bytes_per_second(card));
}

}  // namespace simgpu
