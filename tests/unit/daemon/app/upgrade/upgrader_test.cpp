#include "daemon/app/upgrade/upgrader.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/core/upgrade/versions.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;
using upgrade::Kind;
using upgrade::Version;

const Version kOld{0, 1, 0};
const Version kNew{0, 1, 1};
const Version kFar{0, 3, 0};
constexpr Nanos kSecond = 1'000'000'000;

struct FakeModules final : Modules {
    std::vector<upgrade::Manifest> installed{
        upgrade::manifest_of(kOld, kOld), upgrade::manifest_of(kNew, kOld), upgrade::manifest_of(kFar, kFar)};
    std::set<Version> bad;
    std::vector<upgrade::Manifest> list() override { return installed; }
    Result<upgrade::Manifest> verified(Version version) override {
        for (const auto& manifest : installed)
            if (manifest.version == version && !bad.contains(version)) return manifest;
        return model::refuse(Refusal::Reason::not_found, "module " + version.str(), "it is not installed",
                             "cgpuctl module list");
    }
};

struct FakeRecords final : RecordStore {
    upgrade::Record saved;
    bool full = false;
    Result<void> save(const upgrade::Record& record) override {
        if (full)
            return model::refuse(Refusal::Reason::storage, "state.json", "no space left on device",
                                 "free some");
        saved = record;
        return {};
    }
};

struct FakeJobs final : JobPublisher {
    std::vector<std::string> said;
    void job_changed() override { said.emplace_back("job"); }
    void job_ended(const upgrade::Ended& ended) override {
        said.push_back("ended " + std::string(to_string(ended.result)));
    }
    void module_changed() override { said.emplace_back("module"); }
    void mode_changed() override { said.emplace_back("mode"); }
    void engines_changed(const model::InstanceId&) override {}
};

struct FakeEngineControl final : EngineControl {
    std::vector<std::pair<upgrade::Switch, std::string>> orders;
    void switch_engine(const upgrade::Switch& order, const std::string& engine) override {
        orders.emplace_back(order, engine);
    }
};

struct FakeModesOfGpus final : ModesOfGpus {
    bool as_configured = true;
    std::vector<model::InstanceId> blocking;
    int taken = 0;
    bool full = false;
    [[nodiscard]] bool are_as_configured() const override { return as_configured; }
    [[nodiscard]] std::vector<model::InstanceId> in_the_way(std::optional<model::Mode>) const override {
        return blocking;
    }
    Result<void> take_configured() override {
        if (full) return model::refuse(Refusal::Reason::storage, "state.json", "no space left", "free some");
        ++taken;
        return {};
    }
};

class UpgraderTest : public testing::Test {
  protected:
    UpgraderTest() { start(); }

    void start() {
        upgrader.emplace(records.saved, kOld,
                         Upgrader::Outside{loop, modules, records, jobs,
                                           [this]() -> const model::Node::Instances& { return instances; },
                                           "boot", recorded.events});
        upgrader->set_engine_control(&engines);
        upgrader->set_modes_of_gpus(&modes);
        upgrader->resume();
    }
    static model::Node::Instances one(const char* name, model::Mode mode) {
        const auto id = *model::InstanceId::parse(name);
        return {{id, model::Instance{id, name, 0, 0, mode, {}, std::nullopt}}};
    }
    static upgrade::Who who(std::int32_t pid) { return {*model::InstanceId::parse("web"), {pid, 7, "boot"}}; }
    void connect(std::int32_t pid, const Version& runs, bool switches = true) {
        upgrader->connected({who(pid), 1, kOld, switches});
        if (switches) upgrader->said({who(pid), 1, 0, wire::SwitchResult::running, runs, ""});
    }
    void answer(std::size_t order, wire::SwitchResult result) {
        const auto& [asked, path] = engines.orders.at(order);
        upgrader->said({asked.who, asked.front, asked.request, result,
                        result == wire::SwitchResult::done ? asked.to : kOld, ""});
    }
    void expect_refused(const Result<std::uint64_t>& result, Refusal::Reason reason,
                        const std::string& part) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().reason, reason) << result.error().text;
        EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
        EXPECT_NE(result.error().text.find(" Try: "), std::string::npos) << result.error().text;
        EXPECT_FALSE(records.saved.job);
        EXPECT_TRUE(engines.orders.empty());
    }

    FakeLoop loop;
    FakeModules modules;
    FakeRecords records;
    FakeJobs jobs;
    RecordedEvents recorded;
    FakeEngineControl engines;
    FakeModesOfGpus modes;
    model::Node::Instances instances = one("web", model::Mode::memory_compute);
    std::optional<Upgrader> upgrader;
};

TEST_F(UpgraderTest, WhatIsInForceIsWrittenDownTheFirstTime) {
    EXPECT_EQ(records.saved.in_force, kOld);
    EXPECT_EQ(upgrader->engine_for_new(true), "0.1.0/libcgpu-engine.so.0.1.0");
    EXPECT_EQ(upgrader->installed_in_force(), "0.1.0");
}

TEST_F(UpgraderTest, AHotOneTellsEachProcessSavesAndPublishes) {
    connect(1, kOld);
    connect(2, kOld);
    const auto id = upgrader->begin(Kind::hot, "0.1.1", {});
    ASSERT_TRUE(id) << id.error().text;
    EXPECT_EQ(*id, 1U);
    ASSERT_TRUE(records.saved.job);
    EXPECT_EQ(upgrader->engine_for_new(true), "0.1.1/libcgpu-engine.so.0.1.1") << "what starts now";
    EXPECT_EQ(upgrader->engine_for_new(false), "0.1.0/libcgpu-engine.so.0.1.0") << "what couldn't go back";
    ASSERT_EQ(engines.orders.size(), 1U) << "one first";
    EXPECT_EQ(engines.orders[0].second, "0.1.1/libcgpu-engine.so.0.1.1");
    answer(0, wire::SwitchResult::done);
    ASSERT_EQ(engines.orders.size(), 2U);
    EXPECT_EQ(upgrader->versions(who(1).instance).at(1), std::set{kNew});
    answer(1, wire::SwitchResult::done);
    EXPECT_EQ(upgrader->in_force(), kNew);
    EXPECT_EQ(records.saved.in_force, kNew);
    EXPECT_FALSE(records.saved.job);
    EXPECT_EQ(jobs.said.back(), "module");
    EXPECT_EQ(std::count(jobs.said.begin(), jobs.said.end(), "ended done"), 1);
    EXPECT_EQ(upgrader->installed_in_force(), "0.1.1");
}

TEST_F(UpgraderTest, AJobIsTwoEventsAndOneMoreIfItGoesBack) {
    const auto detail = [](const Event& event, const char* name) {
        return std::get<std::string>(event.details.at(name));
    };
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {.by = Who{1000, 55}}));
    const auto begun = recorded.of(EventType::job_begun);
    ASSERT_EQ(begun.size(), 1U);
    EXPECT_EQ(begun[0].by, (Who{1000, 55}));
    EXPECT_EQ(detail(begun[0], "kind") + " " + detail(begun[0], "before") + " " + detail(begun[0], "after"),
              "hot 0.1.0 0.1.1");
    EXPECT_EQ(begun[0].message, "upgrade 1 (hot, 0.1.0 to 0.1.1): begun, by user id 1000, process 55");
    ASSERT_TRUE(upgrader->cancel(1, false, Who{0, 56}));
    const auto back = recorded.of(EventType::job_back);
    ASSERT_EQ(back.size(), 1U);
    EXPECT_EQ(back[0].by, (Who{0, 56}));
    loop.advance(61 * kSecond);
    const auto ended = recorded.of(EventType::job_ended);
    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(ended[0].by, std::nullopt) << "it ends by itself";
    EXPECT_EQ(detail(ended[0], "result"), "cancelled");
    EXPECT_EQ(std::get<std::uint64_t>(ended[0].details.at("job")), 1U);
}

TEST_F(UpgraderTest, TheDeadlineComesByTheClock) {
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {.timeout_s = 5}));
    loop.advance(6 * kSecond);
    EXPECT_EQ(upgrader->status().step, upgrade::Step::back);
    loop.advance(31 * kSecond);
    EXPECT_EQ(jobs.said.back(), "job");
    EXPECT_EQ(std::count(jobs.said.begin(), jobs.said.end(), "ended failed"), 1);
    EXPECT_EQ(upgrader->engine_for_new(true), "0.1.0/libcgpu-engine.so.0.1.0");
}

TEST_F(UpgraderTest, ANewDaemonGoesOnWithIt) {
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {}));
    engines.orders.clear();
    start();
    EXPECT_EQ(upgrader->status().id, 1U);
    connect(1, kOld);
    ASSERT_EQ(engines.orders.size(), 1U);
    answer(0, wire::SwitchResult::done);
    EXPECT_EQ(records.saved.in_force, kNew);
}

TEST_F(UpgraderTest, IsRefusedBeforeAnythingMoves) {
    using Reason = Refusal::Reason;
    connect(1, kOld);
    expect_refused(upgrader->begin(Kind::hot, "latest", {}), Reason::invalid, "\"latest\"");
    expect_refused(upgrader->begin(Kind::hot, "0.1.1", {.timeout_s = 0}), Reason::invalid, "timeout 0 s");
    expect_refused(upgrader->begin(Kind::hot, "0.1.1", {.drain = true}), Reason::invalid, "drain");
    expect_refused(upgrader->begin(Kind::hot, "0.1.0", {}), Reason::exists, "it is in force");
    expect_refused(upgrader->begin(Kind::hot, "0.2.0", {}), Reason::not_found, "not installed");
    expect_refused(upgrader->begin(Kind::hot, "0.2.0", {}), Reason::not_found,
                   "Try: use 0.3.0 if that is meant, or ");
    expect_refused(upgrader->begin(Kind::hot, "0.3.0", {}), Reason::unsupported, "0.1.0 is older");
    expect_refused(upgrader->begin(Kind::cold, "0.1.1", {}), Reason::busy, "instances are in the way: web");
    connect(2, kOld, false);
    expect_refused(upgrader->begin(Kind::hot, "0.1.1", {}), Reason::unsupported,
                   "process 2 of instance web has front 0.1.0, which can't exchange its engine");
    modules.bad = {kOld};
    expect_refused(upgrader->begin(Kind::hot, "0.1.1", {}), Reason::not_found, "module 0.1.0");
}

TEST_F(UpgraderTest, AFullDiskRefusesItWithItsWords) {
    records.full = true;
    const auto begun = upgrader->begin(Kind::hot, "0.1.1", {});
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().reason, Refusal::Reason::storage);
    EXPECT_EQ(begun.error().text, "state.json: no space left on device. Try: free some.");
    EXPECT_EQ(upgrader->status().id, 0U);
}

TEST_F(UpgraderTest, ADryRunChecksAll) {
    const auto begun = upgrader->begin(Kind::hot, "0.1.1", {.dry_run = true});
    ASSERT_TRUE(begun);
    EXPECT_EQ(*begun, 0U);
    EXPECT_FALSE(records.saved.job);
    EXPECT_FALSE(upgrader->begin(Kind::cold, "0.1.1", {.dry_run = true}));
}

TEST_F(UpgraderTest, OneAtATime) {
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {}));
    const auto second = upgrader->begin(Kind::cold, "0.1.1", {.drain = true});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, Refusal::Reason::busy);
    EXPECT_NE(second.error().text.find("upgrade 1 (hot, 0.1.0 to 0.1.1) is under way"), std::string::npos);
}

TEST_F(UpgraderTest, CancelIsForTheOneThatIsUnderWay) {
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {}));
    EXPECT_EQ(upgrader->cancel(7, false).error().reason, Refusal::Reason::not_found);
    EXPECT_TRUE(upgrader->cancel(1, true));
    EXPECT_EQ(upgrader->status().step, upgrade::Step::canary);
    EXPECT_TRUE(upgrader->cancel(1, false));
    EXPECT_EQ(upgrader->cancel(1, false).error().reason, Refusal::Reason::busy);
    ASSERT_EQ(engines.orders.size(), 2U);
    EXPECT_EQ(engines.orders[1].first.to, kOld);
    answer(0, wire::SwitchResult::done);  // it was at work on that
    EXPECT_EQ(upgrader->status().step, upgrade::Step::back);
    EXPECT_EQ(engines.orders.size(), 2U) << "and does next what it has been told already";
    answer(1, wire::SwitchResult::done);
    EXPECT_EQ(upgrader->status().result, upgrade::Result::cancelled);
    EXPECT_EQ(upgrader->cancel(1, false).error().reason, Refusal::Reason::not_found);
}

TEST_F(UpgraderTest, AWordThatWasOvertakenBeforeItWasBegunIsNotWaitedFor) {
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {}));
    ASSERT_TRUE(upgrader->cancel(1, false));
    ASSERT_EQ(engines.orders.size(), 2U);
    answer(1, wire::SwitchResult::done);
    EXPECT_EQ(upgrader->status().result, upgrade::Result::cancelled);
}

TEST_F(UpgraderTest, WhileItDrainsNobodyIsLetInAndItIsSaidWhy) {
    EXPECT_TRUE(upgrader->open());
    ASSERT_TRUE(upgrader->begin(Kind::cold, "0.1.1", {.drain = true}));
    const auto closed = upgrader->open();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().reason, Refusal::Reason::busy);
    EXPECT_NE(closed.error().text.find("from 0.1.0 to 0.1.1"), std::string::npos);
    EXPECT_EQ(upgrader->status().all, 1U);
    instances.clear();
    upgrader->instances_changed();
    EXPECT_TRUE(upgrader->open());
    EXPECT_EQ(upgrader->in_force(), kNew);
    EXPECT_EQ(upgrader->status().result, upgrade::Result::done);
}

using model::Mode;

TEST_F(UpgraderTest, LessIsolationWaitsForWhoIsIsolatedMore) {
    upgrader->set_configured_mode(Mode::memory_compute);
    EXPECT_EQ(upgrader->mode_of_node(), Mode::memory_compute);
    expect_refused(upgrader->begin_mode("none", {}), Refusal::Reason::busy,
                   "mode none of the node: instances are in the way: web");
    ASSERT_TRUE(upgrader->begin_mode("none", {.drain = true}));
    const auto closed = upgrader->open();
    ASSERT_FALSE(closed);
    EXPECT_NE(closed.error().text.find("the node's mode is being changed from memory+compute to none"),
              std::string::npos);
    EXPECT_EQ(upgrader->mode_of_node(), Mode::memory_compute);
    instances.clear();
    upgrader->instances_changed();
    EXPECT_TRUE(upgrader->open());
    EXPECT_EQ(upgrader->mode_of_node(), Mode::none);
    EXPECT_EQ(upgrader->mode(), Mode::none);
    EXPECT_EQ(records.saved.mode, Mode::none);
    EXPECT_EQ(std::count(jobs.said.begin(), jobs.said.end(), "mode"), 1);
    start();
    EXPECT_EQ(upgrader->mode(), Mode::none) << "the next daemon knows it";
}

TEST_F(UpgraderTest, WhoIsIsolatedNoMoreThanThatIsNotInTheWay) {
    instances = one("web", Mode::none);
    ASSERT_TRUE(upgrader->begin_mode("none", {}));
    EXPECT_EQ(upgrader->mode(), Mode::none);
    EXPECT_EQ(upgrader->status().all, 0U);
}

TEST_F(UpgraderTest, MoreIsolationWaitsForNobody) {
    upgrader->set_configured_mode(Mode::none);
    instances = one("web", Mode::none);
    ASSERT_TRUE(upgrader->begin_mode("memory", {}));
    EXPECT_EQ(upgrader->mode_of_node(), Mode::memory);
    EXPECT_EQ(upgrader->status().result, upgrade::Result::done);
}

TEST_F(UpgraderTest, AModeIsRefusedBeforeAnythingChanges) {
    using Reason = Refusal::Reason;
    expect_refused(upgrader->begin_mode("compute", {}), Reason::invalid, "not isolated without memory");
    expect_refused(upgrader->begin_mode("none", {.timeout_s = 0}), Reason::invalid, "timeout 0 s");
    const auto dry = upgrader->begin_mode("none", {.drain = true, .dry_run = true});
    ASSERT_TRUE(dry);
    EXPECT_EQ(*dry, 0U);
    instances.clear();
    ASSERT_TRUE(upgrader->begin_mode("none", {}));
    expect_refused(upgrader->begin_mode("none", {}), Reason::exists, "it is in force");
    connect(1, kOld);
    ASSERT_TRUE(upgrader->begin(Kind::hot, "0.1.1", {}));
    const auto second = upgrader->begin_mode("memory", {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, Reason::busy);
    EXPECT_NE(second.error().text.find("upgrade 2 (hot, 0.1.0 to 0.1.1) is under way"), std::string::npos);
}

TEST_F(UpgraderTest, TheConfiguredModeCountsWhereNoneWasSwitched) {
    upgrader->set_configured_mode(Mode::memory);
    EXPECT_EQ(upgrader->mode_of_node(), Mode::memory);
    EXPECT_EQ(std::count(jobs.said.begin(), jobs.said.end(), "mode"), 1);
    instances.clear();
    ASSERT_TRUE(upgrader->begin_mode("none", {}));
    jobs.said.clear();
    upgrader->set_configured_mode(Mode::memory_compute);
    EXPECT_EQ(upgrader->mode_of_node(), Mode::none);
    EXPECT_TRUE(jobs.said.empty());
}

TEST_F(UpgraderTest, TheConfiguredModeIsGoneBackTo) {
    upgrader->set_configured_mode(Mode::memory);
    expect_refused(upgrader->begin_mode("configured", {}), Refusal::Reason::exists, "it is in force");
    instances.clear();
    ASSERT_TRUE(upgrader->begin_mode("none", {}));
    modes.blocking = {*model::InstanceId::parse("web")};
    expect_refused(upgrader->begin_mode("configured", {}), Refusal::Reason::busy, "instances are in the way: web");
    expect_refused(upgrader->begin_mode("configured", {.until_reboot = true}), Refusal::Reason::invalid,
                   "until another one is set");
    ASSERT_TRUE(upgrader->begin_mode("configured", {.drain = true}));
    EXPECT_EQ(recorded.of(EventType::mode_switch_begun).size(), 1U);
    EXPECT_EQ(modes.taken, 0);
    modes.blocking.clear();
    upgrader->set_configured_mode(Mode::memory_compute);
    EXPECT_EQ(modes.taken, 1) << "others are in the way of the mode that is configured now";
    EXPECT_EQ(upgrader->mode(), std::nullopt);
    EXPECT_EQ(upgrader->mode_of_node(), Mode::memory_compute);
    EXPECT_EQ(records.saved.mode, std::nullopt);
    modes.as_configured = false;
    EXPECT_TRUE(upgrader->begin_mode("configured", {})) << "for the GPUs";
    EXPECT_EQ(modes.taken, 2);
}

TEST_F(UpgraderTest, WithoutTheGpusModesTheSwitchedOneStays) {
    instances.clear();
    ASSERT_TRUE(upgrader->begin_mode("none", {}));
    modes.full = true;
    ASSERT_TRUE(upgrader->begin_mode("configured", {}));
    EXPECT_EQ(upgrader->status().result, upgrade::Result::failed);
    EXPECT_EQ(upgrader->mode(), Mode::none);
    EXPECT_EQ(records.saved.mode, Mode::none);
}

TEST_F(UpgraderTest, ASwitchOfTheModeIsNoJobAmongTheEvents) {
    instances.clear();
    ASSERT_TRUE(upgrader->begin_mode("none", {.by = Who{0, 5}}));
    ASSERT_EQ(recorded.all.size(), 1U) << "done at once";
    EXPECT_EQ(recorded.all[0].type, EventType::mode_changed);
    EXPECT_EQ(recorded.all[0].by, (Who{0, 5}));
    EXPECT_EQ(std::get<std::string>(recorded.all[0].details.at("after")), "none");
    ASSERT_TRUE(upgrader->begin_mode("memory", {.until_reboot = true}));
    EXPECT_TRUE(upgrader->mode_until_reboot());
    instances = one("web", model::Mode::memory);
    ASSERT_TRUE(upgrader->begin_mode("none", {.drain = true}));
    ASSERT_TRUE(upgrader->cancel(3, false));
    EXPECT_EQ(recorded.of(EventType::mode_switch_begun).size(), 1U);
    EXPECT_EQ(recorded.of(EventType::mode_switch_failed).size(), 1U);
    EXPECT_TRUE(recorded.of(EventType::job_begun).empty());
    EXPECT_TRUE(recorded.of(EventType::job_ended).empty());
}

}  // namespace
}  // namespace cgpu::app::test
