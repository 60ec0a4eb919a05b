#include "core/upgrade/compatible.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/upgrade/versions.hpp"

namespace cgpu::upgrade {
namespace {

const Manifest kOld = manifest_of({1, 0, 0}, {0, 9, 0});
const Manifest kNew = manifest_of({1, 2, 0}, {1, 0, 0});

TEST(WhyNotHot, GoesUpWithinTheRangeOfTheTarget) {
    EXPECT_EQ(why_not_hot(kOld, kNew), std::nullopt);
    EXPECT_EQ(why_not_hot(manifest_of({0, 9, 9}, {0, 9, 0}), kNew),
              "1.2.0 exchanges running processes with versions from 1.0.0 on, and 0.9.9 is older");
}

TEST(WhyNotHot, GoesBackWithinTheRangeOfWhatRuns) {
    EXPECT_EQ(why_not_hot(kNew, kOld), std::nullopt);
    EXPECT_EQ(why_not_hot(kNew, manifest_of({0, 9, 9}, {0, 9, 0})),
              "1.2.0 exchanges running processes with versions from 1.0.0 on, and 0.9.9 is older");
}

TEST(WhyNotHot, NeedsTheSameTableAndPages) {
    Manifest target = kNew;
    target.abi = kOld.abi + 1;
    EXPECT_EQ(why_not_hot(kOld, target), "it has version " + std::to_string(target.abi) +
                                             " of the engine's ABI, and what runs has version " +
                                             std::to_string(kOld.abi));
    target = kNew;
    target.pages = 2;
    EXPECT_EQ(why_not_hot(kOld, target), "it has version 2 of the shared pages, and what runs has version 1");
}

TEST(WhyNotHot, NeedsTheSameMachine) {
    Manifest target = kNew;
    target.machine = "aarch64";
    EXPECT_EQ(why_not_hot(kOld, target), "it is for aarch64, and what runs is for x86_64");
}

RC_GTEST_PROP(WhyNotHot, UpIsAllowedExactlyFromCompatibleFromOn,
              (const Version& running, const Version& target, const Version& from)) {
    RC_PRE(running <= target && from <= target);
    const bool allowed = from <= running;
    RC_ASSERT(why_not_hot(manifest_of(running, running), manifest_of(target, from)).has_value() == !allowed);
}

RC_GTEST_PROP(WhyNotHot, WhoMayGoUpMayComeBack,
              (const Version& a, const Version& b, const Version& from_a, const Version& from_b)) {
    const Manifest one = manifest_of(a, std::min(a, from_a));
    const Manifest other = manifest_of(b, std::min(b, from_b));
    RC_ASSERT(why_not_hot(one, other).has_value() == why_not_hot(other, one).has_value());
}

RC_GTEST_PROP(WhyNotHot, EveryVersionFitsItself, (const Version& version, const Version& from)) {
    const Manifest manifest = manifest_of(version, std::min(version, from));
    RC_ASSERT(!why_not_hot(manifest, manifest));
}

}  // namespace
}  // namespace cgpu::upgrade
