#include <gtest/gtest.h>

#include "tests/unit/core/upgrade/upgrade_world.hpp"

/// How a switched mode ends: the configured one is wanted again, or the machine is started again.
namespace cgpu::upgrade::test {
namespace {

using model::Mode;
constexpr Nanos kTimeout = 60 * kSecond;

/// A node without instances.
World idle_world() {
    World world;
    world.set_instances(0);
    return world;
}

TEST(ModeConfigured, LeavesNoSwitchedModeAndTheGpusTakeTheirsFirst) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::none));
    EXPECT_EQ(world.configured_modes, 0);
    ASSERT_TRUE(world.switch_mode(Mode::memory, kTimeout, true));
    EXPECT_EQ(world.over.at(1).message, "memory is in force, as configured.");
    EXPECT_EQ(world.configured_modes, 1);
    EXPECT_FALSE(world.flow().mode());
    EXPECT_FALSE(world.disk.mode);
    world.restart();
    EXPECT_FALSE(world.flow().mode());
}

TEST(ModeConfigured, WaitsOverADeathAndIsStillTheConfiguredOne) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::memory_compute));
    world.set_instances(1);
    ASSERT_TRUE(world.switch_mode(Mode::memory, kTimeout, true));
    EXPECT_TRUE(world.flow().to_configured());
    world.kill_after(0);
    EXPECT_TRUE(world.flow().to_configured());
    EXPECT_EQ(world.flow().mode(), Mode::memory_compute);
    world.set_instances(0);
    EXPECT_EQ(world.over.at(1).result, Result::done);
    EXPECT_FALSE(world.disk.mode);
    EXPECT_FALSE(world.flow().to_configured());
}

TEST(ModeConfigured, GivenUpItLeavesTheSwitchedOne) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::memory_compute));
    world.set_instances(1);
    ASSERT_TRUE(world.switch_mode(Mode::memory, kTimeout, true));
    world.cancel();
    EXPECT_EQ(world.over.at(1).result, Result::cancelled);
    EXPECT_EQ(world.disk.mode, Mode::memory_compute);
    EXPECT_EQ(world.configured_modes, 0);
}

TEST(ModeUntilReboot, ARestartOfCgpudKeepsItAndTheRebootEndsIt) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::memory));
    ASSERT_TRUE(world.switch_mode(Mode::none, kTimeout, false, true));
    EXPECT_EQ(world.over.at(1).message, "none is in force, until the reboot.");
    EXPECT_TRUE(world.flow().mode_until_reboot());
    world.restart();
    EXPECT_EQ(world.flow().mode(), Mode::none);
    world.restart(true);
    EXPECT_EQ(world.flow().mode(), Mode::memory);
    EXPECT_EQ(world.disk.mode, Mode::memory);
    EXPECT_FALSE(world.disk.mode_until_reboot);
    world.restart();
    EXPECT_EQ(world.flow().mode(), Mode::memory);
}

TEST(ModeUntilReboot, TheConfiguredOneComesBackWhereNoneWasSet) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::none, kTimeout, false, true));
    ASSERT_TRUE(world.switch_mode(Mode::memory, kTimeout, false, true));
    world.restart(true);
    EXPECT_FALSE(world.flow().mode());
    EXPECT_FALSE(world.disk.mode);
}

TEST(ModeUntilReboot, SetForGoodItStays) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::none, kTimeout, false, true));
    ASSERT_TRUE(world.switch_mode(Mode::none));
    EXPECT_FALSE(world.flow().mode_until_reboot());
    world.restart(true);
    EXPECT_EQ(world.flow().mode(), Mode::none);
}

TEST(ModeUntilReboot, ASwitchThatTheRebootOvertakesIsNotMade) {
    World world;
    ASSERT_TRUE(world.switch_mode(Mode::none, kTimeout, false, true));
    EXPECT_TRUE(world.flow().draining());
    world.restart(true);
    EXPECT_FALSE(world.flow().draining());
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.over[0].message, "The reboot came before it; the configuration's mode stays in force.");
    EXPECT_FALSE(world.disk.mode);
    EXPECT_FALSE(world.disk.job);
}

TEST(ModeUntilReboot, AFullDiskAtTheBootIsMadeGoodByTheNextStart) {
    World world = idle_world();
    ASSERT_TRUE(world.switch_mode(Mode::none, kTimeout, false, true));
    world.disk_full = true;
    world.restart(true);
    EXPECT_FALSE(world.flow().mode()) << "it has ended all the same";
    EXPECT_TRUE(world.disk.mode_until_reboot);
    EXPECT_EQ(world.log.back(), "The disk is full.");
    world.disk_full = false;
    world.restart();
    EXPECT_FALSE(world.disk.mode_until_reboot);
    EXPECT_FALSE(world.disk.mode);
}

}  // namespace
}  // namespace cgpu::upgrade::test
