#include "core/history/checksum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace cgpu::history {
namespace {

std::uint32_t of(std::string_view text) { return checksum(std::as_bytes(std::span(text))); }

/// RFC 3720, appendix B.4, and the check value that catalogues of such checksums have.
TEST(Checksum, IsCrc32c) {
    EXPECT_EQ(of(""), 0U);
    EXPECT_EQ(of("123456789"), 0xE3069283U);
    EXPECT_EQ(of(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(of(std::string(32, '\xff')), 0x62A8AB43U);
    std::string rising;
    for (char c = 0; c < 32; ++c) rising += c;
    EXPECT_EQ(of(rising), 0x46DD794EU);
    EXPECT_EQ(of(std::string(rising.rbegin(), rising.rend())), 0x113FDB5CU);
}

/// Bit by bit, as the RFC defines it.
std::uint32_t slowly(std::string_view text) {
    std::uint32_t rest = 0xFFFFFFFF;
    for (const char c : text) {
        rest ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) rest = (rest & 1U) != 0 ? (rest >> 1U) ^ 0x82F63B78 : rest >> 1U;
    }
    return ~rest;
}

RC_GTEST_PROP(ChecksumProperty, IsThatOfItsBits, (const std::string& text)) {
    RC_ASSERT(of(text) == slowly(text));
    RC_ASSERT(checksum_by_tables(std::as_bytes(std::span(text))) == slowly(text));
}

}  // namespace
}  // namespace cgpu::history
