#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/unit/core/upgrade/upgrade_world.hpp"

namespace cgpu::upgrade::test {
namespace {

using Mood = World::Mood;

/// One step of a random life.
struct Life {
    World world;
    std::size_t upgrades = 0;
    Nanos last_full = 0;

    void step(int what, int which, int much) {
        auto& processes = world.processes;
        auto chosen = processes.begin();
        if (!processes.empty()) std::advance(chosen, which % static_cast<int>(processes.size()));
        const bool any = chosen != processes.end() && chosen->second.alive;
        if (what <= 1 && world.instances > 0)
            world.start(which % 6 == 0 ? static_cast<Mood>(which / 6 % 5) : Mood::good);
        if (what == 2 && any) world.end(chosen->first);
        if (what == 3 && any) world.set_stopped(chosen->first, which % 2 == 0);
        if (what == 4 && any)
            chosen->second.mood = which % 3 == 0 ? static_cast<Mood>(which / 3 % 5) : Mood::good;
        if (what == 5) world.kill_after(much % 8);
        if (what == 6) world.cancel();
        if (what == 7) world.disk_full = which % 3 == 0;
        if (what == 8) world.set_instances(static_cast<std::size_t>(which % 3));
        if (what == 9) world.file_bad = which % 4 == 0;
        if (what >= 10 && what <= 12) upgrade(which, much);
        if (what == 13) switch_mode(which, much);
        world.run(Nanos{much} * 20 * kMs);
        check();
    }

    void upgrade(int which, int much) {
        const Version to = world.flow().in_force() == kOld ? kNew : kOld;
        const auto kind = which % 4 == 0 ? Kind::cold : Kind::hot;
        const bool was = world.flow().under_way();
        const bool begun = world.upgrade(kind, to, much * kSecond / 2);
        RC_ASSERT(begun == !was);
        if (begun) ++upgrades;
    }

    void switch_mode(int which, int much) {
        const bool was = world.flow().under_way();
        const auto before = world.flow().mode();
        const auto to = static_cast<model::Mode>(which % 3);
        const bool begun = world.switch_mode(to, much * kSecond / 2);
        RC_ASSERT(begun == !was);
        if (!begun) return;
        ++upgrades;
        // The mode is in force once no instance blocks it; otherwise the job waits. On a full disk it has not
        // begun.
        RC_ASSERT(world.flow().mode() == before || world.instances == 0);
    }

    void check() {
        // A new instance gets the mode that is on the disk.
        RC_ASSERT(world.flow().mode() == world.disk.mode);
        // One job at a time, in order, each ended once (a killed daemon may not report the end).
        for (std::size_t i = 1; i < world.over.size(); ++i)
            RC_ASSERT(world.over[i].id > world.over[i - 1].id);
        RC_ASSERT(world.over.size() <= upgrades);
        if (world.disk_full) last_full = world.now;
        if (const auto& job = world.disk.job) {
            const auto back = job->back ? 0 : Flow::Settings().back_timeout;
            // A daemon that starts after the deadline, and finds no way back on a disk that was full, begins
            // one.
            const auto begun = std::max(job->deadline, world.booted);
            RC_ASSERT(world.now <= std::max(begun + back, last_full) + 2 * kSecond);
        }
    }

    /// All faults end: every process works, the disk has space, and time passes.
    void calm() {
        world.disk_full = false;
        world.file_bad = false;
        for (auto& [pid, process] : world.processes) {
            process.stopped = false;
            process.mood = Mood::good;
        }
        world.run(60 * kSecond, 50 * kMs);
        world.set_instances(0);
        world.run(10 * kSecond, 50 * kMs);
    }
};

RC_GTEST_PROP(UpgradeProperty, WhateverHappensItEndsOnOneVersionOrSaysWhoIsLeft, ()) {
    Life life;
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 14), rc::gen::inRange(0, 60), rc::gen::inRange(1, 60)));
    for (const auto& [what, which, much] : steps) life.step(what, which, much);
    life.calm();
    auto& world = life.world;
    RC_ASSERT(!world.flow().under_way());
    RC_ASSERT(!world.flow().draining());
    RC_ASSERT(world.disk.in_force.value_or(kOld) == world.flow().in_force());
    RC_ASSERT(!world.disk.job);
    RC_ASSERT(world.disk.mode == world.flow().mode());
    // A process that has refused is not asked again before it reconnects; all others are on the version in
    // force.
    for (const auto& [who, process] : world.flow().roster().all()) {
        const auto& real = world.processes.at(who.process.pid);
        RC_ASSERT(process.is_on(real.runs) || process.has_refused(world.flow().in_force()));
        RC_ASSERT(real.runs == world.flow().in_force() || process.has_refused(world.flow().in_force()));
    }
    world.restart();
    world.run(10 * kSecond, 50 * kMs);
    for (const auto& [pid, process] : world.processes)
        RC_ASSERT(!process.alive || process.runs == world.flow().in_force());
}

RC_GTEST_PROP(UpgradeProperty, KilledAfterAnyActionItEndsAndEverybodyIsOnOneVersion, ()) {
    World world;
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) world.start();
    const auto failing = *rc::gen::inRange(0, 12);
    if (failing < count) world.processes.at(failing + 1).mood = Mood::fails;
    world.kill_after(*rc::gen::inRange(1, 25));
    const bool cold = *rc::gen::inRange(0, 4) == 0;
    RC_ASSERT(world.upgrade(cold ? Kind::cold : Kind::hot, kNew));
    if (cold) world.set_instances(0);
    world.run(2 * kSecond);
    if (*rc::gen::inRange(0, 2) == 0) world.kill_after(*rc::gen::inRange(0, 10));
    world.run(60 * kSecond, 50 * kMs);
    RC_ASSERT(!world.flow().under_way());
    RC_ASSERT(world.running().size() <= 1U);
    if (!world.running().empty()) RC_ASSERT(*world.running().begin() == world.flow().in_force());
    RC_ASSERT(world.disk.in_force.value_or(kOld) == world.flow().in_force());
}

RC_GTEST_PROP(ModeSwitchProperty, KilledAfterAnyActionItEndsInOneModeAndTheDoorIsOpen, ()) {
    World world;
    const auto stays = *rc::gen::inRange(0, 2) == 0;
    const auto to = static_cast<model::Mode>(*rc::gen::inRange(0, 3));
    world.kill_after(*rc::gen::inRange(1, 8));
    RC_ASSERT(world.switch_mode(to));
    if (*rc::gen::inRange(0, 3) == 0) world.cancel();
    if (*rc::gen::inRange(0, 2) == 0) world.kill_after(*rc::gen::inRange(0, 4));
    if (!stays) world.set_instances(0);
    world.run(70 * kSecond, 50 * kMs);
    RC_ASSERT(!world.flow().under_way());
    RC_ASSERT(!world.flow().draining());
    RC_ASSERT(world.disk.mode == world.flow().mode());
    // If it was killed before the job was on the disk, the job never existed: no process was told.
    if (world.disk.last)
        RC_ASSERT((world.disk.last->result == Result::done) == (world.disk.mode == std::optional(to)));
    else
        RC_ASSERT(!world.disk.mode);
    if (stays && world.disk.last) RC_ASSERT(world.disk.last->result != Result::done);
}

}  // namespace
}  // namespace cgpu::upgrade::test
