#include "tests/unit/daemon/app/upgrade/upgrader_bed.hpp"

/// Switches of the mode of the node.
namespace cgpu::app::test {
namespace {

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
    expect_refused(upgrader->begin_mode("configured", {}), Refusal::Reason::busy,
                   "instances are in the way: web");
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
