#include "tests/unit/daemon/app/upgrade/upgrader_bed.hpp"

namespace cgpu::app::test {
namespace {

TEST_F(UpgraderTest, WhatIsInForceIsWrittenDownTheFirstTime) {
    EXPECT_EQ(records.saved.in_force, kOld);
    EXPECT_EQ(upgrader->engine_for_new(), "0.1.0/libcgpu-engine.so.0.1.0");
    EXPECT_EQ(upgrader->installed_in_force(), "0.1.0");
}

TEST_F(UpgraderTest, AHotOneTellsEachProcessSavesAndPublishes) {
    connect(1, kOld);
    connect(2, kOld);
    const auto id = upgrader->begin(Kind::hot, "0.1.1", {});
    ASSERT_TRUE(id) << id.error().text;
    EXPECT_EQ(*id, 1U);
    ASSERT_TRUE(records.saved.job);
    EXPECT_EQ(upgrader->engine_for_new(), "0.1.1/libcgpu-engine.so.0.1.1") << "what starts now";
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
    EXPECT_EQ(upgrader->engine_for_new(), "0.1.0/libcgpu-engine.so.0.1.0");
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
    connect(2, Version{0, 0, 9});
    ASSERT_EQ(engines.orders.size(), 1U) << "it is asked to change to what is in force";
    EXPECT_EQ(engines.orders[0].first.to, kOld);
    engines.orders.clear();
    expect_refused(upgrader->begin(Kind::hot, "0.1.1", {}), Reason::unsupported,
                   "process 2 of instance web runs 0.0.9, which is not installed any more");
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

TEST_F(UpgraderTest, ACancelThatTheDiskRefusesIsRefusedAndTheJobGoesOn) {
    ASSERT_TRUE(upgrader->begin(Kind::cold, "0.1.1", {.drain = true}));
    const auto saved = records.saved;
    records.full = true;
    const auto cancelled = upgrader->cancel(1, false);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().reason, Refusal::Reason::storage);
    EXPECT_EQ(cancelled.error().text, "state.json: no space left on device. Try: free some.");
    EXPECT_EQ(upgrader->status().step, upgrade::Step::drain);
    EXPECT_FALSE(upgrader->open());
    records.full = false;
    loop.advance(5 * kSecond);
    EXPECT_EQ(upgrader->status().step, upgrade::Step::drain) << "it isn't cancelled later";
    EXPECT_EQ(records.saved, saved);
    EXPECT_TRUE(upgrader->cancel(1, false));
    EXPECT_EQ(upgrader->status().result, upgrade::Result::cancelled);
    EXPECT_TRUE(upgrader->open());
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

}  // namespace
}  // namespace cgpu::app::test
