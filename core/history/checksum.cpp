#include "core/history/checksum.hpp"

#include <array>
#include <cstring>

namespace cgpu::history {
namespace {

constexpr std::uint32_t kReversedPolynomial = 0x82F63B78;
/// Bytes that are taken in one step. A state with hundreds of instances has a checksum made at each change.
constexpr std::size_t kAtOnce = 8;

/// Of each value of a byte, what it does to the checksum when `n` bytes follow it in the same step.
constexpr auto kTables = [] {
    std::array<std::array<std::uint32_t, 256>, kAtOnce> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & 1U) != 0 ? (rest >> 1U) ^ kReversedPolynomial : rest >> 1U;
        tables[0][byte] = rest;
    }
    for (std::size_t n = 1; n < kAtOnce; ++n)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const auto before = tables[n - 1][byte];
            tables[n][byte] = tables[0][before & 0xFFU] ^ (before >> 8U);
        }
    return tables;
}();

std::uint32_t value(std::byte byte) { return static_cast<std::uint32_t>(byte); }

#if defined(__x86_64__)
/// The processor's own instruction for it, which takes eight bytes in one cycle or two.
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes) {
    std::uint64_t rest = 0xFFFFFFFF;
    for (; bytes.size() >= sizeof rest; bytes = bytes.subspan(sizeof rest)) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes.data(), sizeof eight);
        rest = __builtin_ia32_crc32di(rest, eight);
    }
    auto last = static_cast<std::uint32_t>(rest);
    for (const std::byte byte : bytes) last = __builtin_ia32_crc32qi(last, static_cast<unsigned char>(byte));
    return ~last;
}
#endif

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
    if (kHasInstruction) return by_instruction(bytes);
#endif
    return checksum_by_tables(bytes);
}

std::uint32_t checksum_by_tables(std::span<const std::byte> bytes) {
    std::uint32_t rest = 0xFFFFFFFF;
    for (; bytes.size() >= kAtOnce; bytes = bytes.subspan(kAtOnce)) {
        std::uint32_t next = 0;
        for (std::size_t n = 0; n < kAtOnce; ++n) {
            const auto mixed = n < 4 ? value(bytes[n]) ^ (rest >> (8U * n)) : value(bytes[n]);
            next ^= kTables[kAtOnce - 1 - n][mixed & 0xFFU];
        }
        rest = next;
    }
    for (const std::byte byte : bytes) rest = kTables[0][(rest ^ value(byte)) & 0xFFU] ^ (rest >> 8U);
    return ~rest;
}

}  // namespace cgpu::history
