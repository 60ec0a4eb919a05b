#include <gtest/gtest.h>

#include "tests/unit/core/upgrade/upgrade_world.hpp"

namespace cgpu::upgrade::test {
namespace {

using Versions = std::set<Version>;
using Mood = World::Mood;

TEST(UpgradeHot, AllGoOverOneOfThemFirst) {
    World world;
    for (int i = 0; i < 5; ++i) world.start();
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    EXPECT_EQ(world.flow().status().step, Step::canary);
    std::size_t told = 0;
    for (const auto& [pid, process] : world.processes) told += process.told.size();
    EXPECT_EQ(told, 1U);
    world.run(kSecond);
    EXPECT_EQ(world.running(), Versions{kNew});
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].result, Result::done);
    EXPECT_EQ(world.over[0].message, "1.1.0 is in force in 5 running processes.");
    EXPECT_EQ(world.disk.in_force, kNew);
    EXPECT_FALSE(world.disk.job);
    const auto status = world.flow().status();
    EXPECT_EQ(status.done, 5U);
    EXPECT_EQ(status.all, 5U);
    EXPECT_EQ(status.step, Step::ended);
}

TEST(UpgradeHot, WithoutProcessesItIsDoneAtOnce) {
    World world;
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].result, Result::done);
    EXPECT_EQ(world.flow().in_force(), kNew);
}

TEST(UpgradeHot, BackAgainHasANewNumber) {
    World world;
    world.start();
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    ASSERT_TRUE(world.upgrade(Kind::hot, kOld));
    world.run(kSecond);
    EXPECT_EQ(world.running(), Versions{kOld});
    EXPECT_EQ(world.over.back().id, 2U);
}

TEST(UpgradeHot, WhatStartsMeanwhileHasTheTarget) {
    World world;
    const auto stopped = world.start();
    world.set_stopped(stopped, true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    EXPECT_EQ(world.processes.at(world.start()).runs, kNew);
    world.run(5 * kSecond);
    EXPECT_TRUE(world.over.empty()) << "a stopped process is waited for";
    world.set_stopped(stopped, false);
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::done);
    EXPECT_EQ(world.running(), Versions{kNew});
}

TEST(UpgradeHot, OneThatFailsTurnsItRoundAndIsNamed) {
    World world;
    for (int i = 0; i < 3; ++i) world.start();
    world.start(Mood::fails);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].result, Result::failed);
    EXPECT_EQ(world.over[0].message,
              "It went back, because process 4 of instance web failed the self-check of 1.1.0; 1.0.0 is "
              "in force.");
    EXPECT_EQ(world.running(), Versions{kOld});
    EXPECT_EQ(world.disk.in_force, kOld);
}

TEST(UpgradeHot, OneThatDiesOnTheWayTurnsItRound) {
    World world;
    world.start();
    world.start(Mood::dies);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_NE(world.over[0].message.find("process 2 of instance web ended while it went over"),
              std::string::npos);
    EXPECT_EQ(world.running(), Versions{kOld});
}

TEST(UpgradeHot, OneThatEndsByItselfIsNoFailure) {
    World world;
    world.set_stopped(world.start(), true);  // the canary
    const auto other = world.start();
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.end(other);
    world.set_stopped(1, false);
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::done);
}

TEST(UpgradeHot, AStoppedOneIsWaitedForUntilTheDeadlineAndGoesBackWhenItGoesOn) {
    World world;
    world.start();
    const auto stopped = world.start();
    world.set_stopped(stopped, true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew, 10 * kSecond));
    world.run(9 * kSecond);
    EXPECT_TRUE(world.over.empty());
    EXPECT_EQ(world.flow().status().message, "process 2 of instance web was asked and has not answered");
    world.run(2 * kSecond);
    EXPECT_EQ(world.processes.at(1).runs, kOld);
    EXPECT_EQ(world.flow().status().step, Step::back);
    world.run(31 * kSecond);
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].result, Result::failed);
    EXPECT_NE(
        world.over[0].message.find("Not there: process 2 of instance web was asked and has not answered"),
        std::string::npos);
    world.set_stopped(stopped, false);
    world.run(kSecond);
    EXPECT_EQ(world.running(), Versions{kOld}) << "it was told both, in this order";
}

TEST(UpgradeHot, WhoeverDidWhatADeadDaemonHadToldIsToldAgain) {
    World world;
    const auto stopped = world.start();
    world.set_stopped(stopped, true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew, 10 * kSecond));
    world.run(kSecond);
    world.cancel();
    world.processes.at(stopped).told.pop_back();  // the way back went with the daemon
    world.kill_after(0);
    world.run(40 * kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::cancelled);
    world.set_stopped(stopped, false);
    world.run(kSecond);
    EXPECT_EQ(world.running(), Versions{kOld});
}

TEST(UpgradeHot, ABusyOneIsAskedAgain) {
    World world;
    const auto busy = world.start(Mood::busy);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    EXPECT_TRUE(world.over.empty());
    world.processes.at(busy).mood = Mood::good;
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::done);
}

TEST(UpgradeHot, OneThatCanNotGoBackIsNamed) {
    World world;
    world.start(Mood::fails_back);
    world.start(Mood::fails);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    ASSERT_EQ(world.over.size(), 1U) << "nobody is left who could answer otherwise";
    EXPECT_EQ(world.over[0].result, Result::failed);
    EXPECT_NE(
        world.over[0].message.find("Not there: process 1 of instance web failed the self-check of 1.0.0"),
        std::string::npos);
}

TEST(UpgradeHot, AnOldFrontThatComesMeanwhileTurnsItRound) {
    World world;
    const auto stopped = world.start();
    world.set_stopped(stopped, true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    const auto old = world.start();
    world.processes.at(old).front_version = Version{0, 9, 0};
    world.kill_after(0);  // all connect again
    world.run(kSecond);
    EXPECT_EQ(world.flow().status().step, Step::back);
    EXPECT_NE(
        world.flow().status().message.find("has front 0.9.0, which can't exchange its engine for 1.1.0"),
        std::string::npos);
    world.set_stopped(stopped, false);
    world.run(kSecond);
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].message.find("Not there"), std::string::npos) << "it never left what is in force";
}

TEST(UpgradeHot, CancelledItGoesBack) {
    World world;
    world.start();
    world.set_stopped(world.start(), true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    EXPECT_TRUE(world.flow().can_cancel());
    world.cancel();
    EXPECT_FALSE(world.flow().can_cancel());
    world.set_stopped(2, false);
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::cancelled);
    EXPECT_EQ(world.over[0].message, "It was cancelled; 1.0.0 is in force.");
    EXPECT_EQ(world.running(), Versions{kOld});
}

TEST(UpgradeHot, AFullDiskAtTheStartMovesNothing) {
    World world;
    world.start();
    world.disk_full = true;
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    EXPECT_FALSE(world.flow().under_way());
    EXPECT_TRUE(world.over.empty());
    world.run(kSecond);
    EXPECT_EQ(world.running(), Versions{kOld});
}

TEST(UpgradeHot, AFullDiskAtTheEndTurnsItRoundAndItEndsWhenThereIsSpace) {
    World world;
    world.start();
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.disk_full = true;
    world.run(10 * kSecond);
    EXPECT_EQ(world.running(), Versions{kOld});
    EXPECT_TRUE(world.flow().under_way());
    EXPECT_EQ(world.flow().status().message, "The disk is full.");
    world.disk_full = false;
    world.run(2 * kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.disk.in_force, kOld);
}

TEST(UpgradeHot, AFileThatWentBadWhileTheDaemonWasDeadTurnsItRound) {
    World world;
    world.start();
    world.set_stopped(world.start(), true);
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    world.run(kSecond);
    world.file_bad = true;
    world.set_stopped(2, false);
    world.processes.at(2).told.clear();
    world.kill_after(0);
    world.run(kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.running(), Versions{kOld});
}

TEST(UpgradeCold, WithoutInstancesItIsDoneAtOnce) {
    World world;
    world.set_instances(0);
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew));
    EXPECT_EQ(world.over.at(0).result, Result::done);
    EXPECT_EQ(world.disk.in_force, kNew);
    EXPECT_FALSE(world.flow().draining());
}

TEST(UpgradeCold, ItWaitsForTheInstancesToGo) {
    World world;
    world.set_instances(2);
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew));
    EXPECT_TRUE(world.flow().draining());
    EXPECT_EQ(world.flow().for_new(), kOld) << "the instances that are there keep what they have";
    world.run(kSecond);
    world.set_instances(1);
    EXPECT_EQ(world.flow().status().done, 1U);
    EXPECT_EQ(world.flow().status().all, 2U);
    world.kill_after(0);
    EXPECT_TRUE(world.flow().draining());
    world.set_instances(0);
    EXPECT_EQ(world.over.at(0).result, Result::done);
    EXPECT_EQ(world.flow().for_new(), kNew);
    EXPECT_FALSE(world.flow().draining());
}

TEST(UpgradeCold, AtTheDeadlineOrCancelledItOpensAgain) {
    World world;
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew, 10 * kSecond));
    world.run(11 * kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_FALSE(world.flow().draining());
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew));
    world.cancel();
    EXPECT_EQ(world.over.at(1).result, Result::cancelled);
    EXPECT_FALSE(world.flow().draining());
    EXPECT_EQ(world.disk.in_force, kOld);
}

TEST(UpgradeCold, ABadFileOrAFullDiskAtTheEndOpensAgainWithTheOldVersion) {
    World world;
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew));
    world.file_bad = true;
    world.set_instances(0);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.over[0].message, "The sum is wrong; 1.0.0 stays in force.");
    world.file_bad = false;
    world.set_instances(1);
    ASSERT_TRUE(world.upgrade(Kind::cold, kNew));
    world.disk_full = true;
    world.set_instances(0);
    EXPECT_FALSE(world.flow().draining());
    EXPECT_EQ(world.flow().for_new(), kOld);
    world.disk_full = false;
    world.run(2 * kSecond);
    EXPECT_EQ(world.over.at(1).result, Result::failed);
    EXPECT_EQ(world.disk.in_force, kOld);
}

using model::Mode;

TEST(ModeSwitch, WithNobodyInTheWayItIsDoneAtOnce) {
    World world;
    world.set_instances(0);
    EXPECT_FALSE(world.flow().mode());
    ASSERT_TRUE(world.switch_mode(Mode::none));
    ASSERT_EQ(world.over.size(), 1U);
    EXPECT_EQ(world.over[0].message, "none is in force.");
    EXPECT_EQ(world.over[0].from, Setting(Mode::memory_compute));
    EXPECT_EQ(world.flow().mode(), Mode::none);
    EXPECT_EQ(world.disk.mode, Mode::none);
    EXPECT_EQ(world.flow().in_force(), kOld) << "the module stays";
    world.restart();
    EXPECT_EQ(world.flow().mode(), Mode::none);
}

TEST(ModeSwitch, ItWaitsForWhoIsInTheWayOverTheDaemonsDeathToo) {
    World world;
    world.set_instances(2);
    const auto pid = world.start();
    ASSERT_TRUE(world.switch_mode(Mode::none));
    EXPECT_TRUE(world.flow().draining());
    EXPECT_EQ(world.flow().status().step, Step::drain);
    world.set_instances(1);
    EXPECT_EQ(world.flow().status().message, "waits for 1 instance to end");
    world.kill_after(0);
    EXPECT_TRUE(world.flow().draining());
    EXPECT_FALSE(world.flow().mode()) << "not before all are gone";
    EXPECT_FALSE(world.disk.mode);
    world.run(kSecond);
    EXPECT_EQ(world.processes.at(pid).runs, kOld) << "no process is told anything";
    world.set_instances(0);
    EXPECT_EQ(world.over.at(0).result, Result::done);
    EXPECT_EQ(world.disk.mode, Mode::none);
    EXPECT_FALSE(world.flow().draining());
}

TEST(ModeSwitch, AtTheDeadlineOrCancelledTheOldModeStays) {
    World world;
    ASSERT_TRUE(world.switch_mode(Mode::none, 10 * kSecond));
    world.run(11 * kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.over[0].message, "1 instance had not ended in time; memory+compute stays in force.");
    ASSERT_TRUE(world.switch_mode(Mode::none));
    world.cancel();
    EXPECT_EQ(world.over.at(1).result, Result::cancelled);
    EXPECT_EQ(world.over[1].message, "It was cancelled; memory+compute stays in force.");
    EXPECT_FALSE(world.flow().draining());
    EXPECT_FALSE(world.flow().mode());
    EXPECT_FALSE(world.disk.mode);
}

TEST(ModeSwitch, AFullDiskAtTheEndLeavesTheOldMode) {
    World world;
    ASSERT_TRUE(world.switch_mode(Mode::none));
    world.disk_full = true;
    world.set_instances(0);
    EXPECT_FALSE(world.flow().mode());
    world.disk_full = false;
    world.run(2 * kSecond);
    EXPECT_EQ(world.over.at(0).result, Result::failed);
    EXPECT_EQ(world.over[0].message, "The disk is full; memory+compute stays in force.");
    EXPECT_FALSE(world.disk.mode);
}

TEST(ModeSwitch, AnUpgradeKeepsTheModeAndIsOneOfTheSameRow) {
    World world;
    world.set_instances(0);
    ASSERT_TRUE(world.switch_mode(Mode::memory));
    ASSERT_TRUE(world.upgrade(Kind::hot, kNew));
    EXPECT_EQ(world.over.at(1).id, 2U);
    EXPECT_EQ(world.disk.mode, Mode::memory);
    EXPECT_EQ(world.disk.in_force, kNew);
}

TEST(UpgradeReboot, TheNodeComesUpOnOneVersion) {
    for (const auto kind : {Kind::hot, Kind::cold}) {
        World world;
        world.start();
        world.set_stopped(world.start(), true);
        ASSERT_TRUE(world.upgrade(kind, kNew, 10 * kSecond));
        world.run(kSecond);
        world.now = 0;
        world.restart(true);
        world.run(kSecond);
        EXPECT_FALSE(world.flow().under_way());
        const auto pid = world.start();
        EXPECT_EQ(world.processes.at(pid).runs, world.flow().in_force());
        EXPECT_EQ(world.disk.in_force, world.flow().in_force());
    }
}

}  // namespace
}  // namespace cgpu::upgrade::test
