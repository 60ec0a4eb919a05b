#include "core/wire/limits.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cgpu::wire {
namespace {

static_assert(align_up(0) == 0);
static_assert(align_up(1) == kGranule);
static_assert(align_up(kGranule) == kGranule);
static_assert(align_down(kGranule - 1) == 0);
static_assert(align_up(129, 128) == 256);
static_assert(align_up(~std::uint64_t{0}) == ~std::uint64_t{0} - kGranule + 1, "more than there are");

// One side is of a later release: with a version more, with the present one no more, or with one only that is
// to come.
static_assert(common_version(kSpoken, kSpoken) == kVersion);
static_assert(common_version(kSpoken, {kVersion, kVersion + 1}) == kVersion);
static_assert(common_version({kVersion, kVersion + 1}, kSpoken) == kVersion);
static_assert(common_version({kVersion, kVersion + 2}, {kVersion, kVersion + 1}) == kVersion + 1);
static_assert(common_version({kVersion + 1, kVersion + 1}, kSpoken) == 0);
static_assert(common_version(kSpoken, {kVersion + 1, kVersion + 1}) == 0);
static_assert(common_version(kSpoken, {0, kOldestVersion - 1}) == 0, "of before the first release");
static_assert(common_version(kSpoken, {kVersion + 1, 0}) == 0, "not a range");

RC_GTEST_PROP(Align, IsTheNearestWholeUnit, ()) {
    const auto bytes = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(1, 64);
    const auto unit = *rc::gen::inRange<std::uint64_t>(1, 4 * kGranule);
    RC_ASSERT(align_down(bytes, unit) % unit == 0U);
    RC_ASSERT(align_up(bytes, unit) % unit == 0U);
    RC_ASSERT(align_down(bytes, unit) <= bytes);
    RC_ASSERT(bytes - align_down(bytes, unit) < unit);
    RC_ASSERT(align_up(bytes, unit) >= bytes);
    RC_ASSERT(align_up(bytes, unit) - bytes < unit);
}

}  // namespace
}  // namespace cgpu::wire
