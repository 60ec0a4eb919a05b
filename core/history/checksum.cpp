#include "core/history/checksum.hpp"

#include <array>

namespace cgpu::history {
namespace {

constexpr std::uint32_t kReversedPolynomial = 0x82F63B78;

constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & 1U) != 0 ? (rest >> 1U) ^ kReversedPolynomial : rest >> 1U;
        table[byte] = rest;
    }
    return table;
}();

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes) {
    std::uint32_t rest = 0xFFFFFFFF;
    for (const std::byte byte : bytes)
        rest = kTable[(rest ^ static_cast<std::uint32_t>(byte)) & 0xFFU] ^ (rest >> 8U);
    return ~rest;
}

}  // namespace cgpu::history
