#include "core/model/size.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace cgpu::model {
namespace {

TEST(ParseSize, ReadsPeoplesUnits) {
    EXPECT_EQ(parse_size("5120MiB"), Bytes::from_mib(5120));
    EXPECT_EQ(parse_size("4GiB"), Bytes::from_gib(4));
    EXPECT_EQ(parse_size("4G"), Bytes::from_gib(4));
    EXPECT_EQ(parse_size("4gb"), Bytes::from_gib(4));
    EXPECT_EQ(parse_size("512 m"), Bytes::from_mib(512));
    EXPECT_EQ(parse_size("1.5GiB"), Bytes::from_mib(1536));
    EXPECT_EQ(parse_size("4Gi"), Bytes::from_gib(4)) << "as Kubernetes writes it";
    EXPECT_EQ(parse_size("512Mi"), Bytes::from_mib(512));
    EXPECT_EQ(parse_size("1Ti"), Bytes::from_gib(1024));
    EXPECT_EQ(parse_size("8Ki"), Bytes(8192));
    EXPECT_EQ(parse_size("1TiB"), Bytes::from_gib(1024));
    EXPECT_EQ(parse_size("8KiB"), Bytes(8192));
    EXPECT_EQ(parse_size("4509925376B"), Bytes::from_mib(4301));
    EXPECT_EQ(parse_size("0"), Bytes());
    EXPECT_EQ(parse_size("0MiB"), Bytes());
    EXPECT_EQ(parse_size("0.000001TiB").has_value(), false);  // not whole bytes
}

TEST(ParseSize, RefusesTheRest) {
    for (const char* text : {"",
                             " ",
                             "5120",
                             "MiB",
                             "-1GiB",
                             "+1GiB",
                             "4 GiB extra",
                             "4..5GiB",
                             "4.GiB",
                             ".5GiB",
                             "1e3MiB",
                             "0x10MiB",
                             "4  GiB",
                             "4Gi b",
                             "99999999999999999999GiB",
                             "9000000000TiB",
                             "0.3B",
                             "1.2345678GiB",
                             "4GiB\n",
                             "4PiB"})
        EXPECT_FALSE(parse_size(text).has_value()) << text;
}

TEST(FormatSize, TakesTheLargestExactUnit) {
    EXPECT_EQ(format_size(Bytes::from_gib(4)), "4GiB");
    EXPECT_EQ(format_size(Bytes::from_mib(4301)), "4301MiB");
    EXPECT_EQ(format_size(Bytes(2048)), "2KiB");
    EXPECT_EQ(format_size(Bytes(17)), "17B");
    EXPECT_EQ(format_size(Bytes()), "0B");
    EXPECT_EQ(format_mib(Bytes::from_mib(3) + Bytes(1)), "3MiB");
}

TEST(Bytes, DifferenceStopsAtZero) { EXPECT_EQ(Bytes(3) - Bytes(5), Bytes()); }

RC_GTEST_PROP(Size, RoundTrips, ()) {
    const auto shift = *rc::gen::inRange(0, 41);
    const auto count = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 22);
    const Bytes size(count << shift);
    RC_ASSERT(parse_size(format_size(size)) == size);
}

RC_GTEST_PROP(Size, NeverCrashesOnText, (const std::string& text)) {
    const auto size = parse_size(text);
    RC_ASSERT(size.has_value() || !size.error().empty());
}

TEST(Size, WhatIsAskedForIsRoundedUp) {
    const auto mib = [](std::uint64_t bytes) { return format_mib_up(Bytes(bytes)); };
    EXPECT_EQ(mib(0), "0MiB");
    EXPECT_EQ(mib(1), "0.1MiB");
    EXPECT_EQ(mib(Bytes::kPerMib / 2), "0.5MiB");
    EXPECT_EQ(mib(Bytes::kPerMib - 1), "1MiB");
    EXPECT_EQ(mib(700 * Bytes::kPerMib), "700MiB");
    EXPECT_EQ(mib(700 * Bytes::kPerMib + 1), "700.1MiB");
}

RC_GTEST_PROP(Size, NeverCrashesOnNearlySizes, ()) {
    const auto text =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.. kKmMgGtTiIbB")));
    const auto size = parse_size(text);
    if (size) RC_ASSERT(parse_size(format_size(*size)) == *size);
}

}  // namespace
}  // namespace cgpu::model
