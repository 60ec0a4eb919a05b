#include "tests/unit/daemon/app/instances/service_bed.hpp"

/// How what was set ends: it is taken back, or the machine is started again.
namespace cgpu::app::test {
namespace {

using model::Mode;
using model::Refusal;

class ServiceEnds : public ServiceTest {
  protected:
    ServiceEnds() { see_v100(); }

    const model::Quota& quota(const std::string& id) const {
        return service->node().find_instance(*model::InstanceId::parse(id))->quotas.at(0);
    }
    model::InstanceId made(const std::string& id) {
        EXPECT_TRUE(create(id, "4"));
        return *model::InstanceId::parse(id);
    }
};

TEST_F(ServiceEnds, WhatWasSetForAnInstanceIsTakenBackAsOneChange) {
    const auto id = made("a1");
    const auto before = quota("a1");
    const Options by{.by = Who{1000, 77}};
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .weight = 5}, by));
    ASSERT_TRUE(
        service->changes().make(QuotaChange{.instance = id, .memory_limit = model::Bytes(5000 * kMib)}, by));
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .high_priority = true}, by));
    publisher.said.clear();
    links.refreshed.clear();
    recorded.all.clear();
    const int saves = store.saves;
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .revert = true}, {.dry_run = true}));
    EXPECT_EQ(quota("a1").weight, 5U);
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .revert = true}, by));
    EXPECT_EQ(quota("a1"), before);
    EXPECT_EQ(store.saves, saves + 1);
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(links.refreshed, std::vector{id});
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"changed a1", "gpus"}));
    ASSERT_EQ(recorded.of(EventType::setting_changed).size(), 3U);
    EXPECT_EQ(recorded.all[0].by, by.by);
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .gpu = "0", .revert = true}, by));
    EXPECT_EQ(store.saves, saves + 1) << "nothing is left to take back";
}

TEST_F(ServiceEnds, ARevertIsJudgedByWhatTheInstanceHolds) {
    const auto id = made("a1");
    ASSERT_TRUE(
        service->changes().make(QuotaChange{.instance = id, .memory_limit = model::Bytes(9000 * kMib)}, {}));
    usage.used = 8000 * kMib;
    const auto refused = service->changes().make(QuotaChange{.instance = id, .revert = true}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    EXPECT_TRUE(service->changes().make(QuotaChange{.instance = id, .revert = true}, {.force = true}));
    EXPECT_EQ(service->changes().make(QuotaChange{.instance = "b2", .revert = true}, {}).error().reason,
              Refusal::Reason::not_found);
    const auto changed =
        service->changes().make(QuotaChange{.instance = id, .revert = true}, {.if_generation = 1});
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().reason, Refusal::Reason::changed);
}

TEST_F(ServiceEnds, ARestartOfCgpudKeepsWhatHoldsUntilTheReboot) {
    service->adopt();
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {.runtime = true}));
    ASSERT_TRUE(service->set_default_memory(model::Bytes::from_gib(2), {.runtime = true}));
    EXPECT_NE(recorded.all.at(recorded.all.size() - 2)
                  .message.find("policy weighted is set, until the reboot, instead of proportional"),
              std::string::npos);
    EXPECT_NE(recorded.all.back().message.find("until the reboot"), std::string::npos);
    start(store.saved);
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::weighted);
    EXPECT_EQ(service->default_memory(), model::Bytes::from_gib(2));
}

TEST_F(ServiceEnds, TheNextBootEndsItAndTheInstancesOfTheLast) {
    service->adopt();
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {.runtime = true}));
    made("a1");
    start(store.saved, "another boot");
    recorded.all.clear();
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::proportional);
    EXPECT_TRUE(service->node().instances().empty());
    EXPECT_EQ(store.saved.until_reboot(), model::UntilReboot{});
    EXPECT_EQ(recorded.of(EventType::instance_ended).size(), 1U);
    ASSERT_EQ(recorded.of(EventType::setting_changed).size(), 1U);
    EXPECT_EQ(std::get<std::string>(recorded.of(EventType::setting_changed)[0].details.at("after")),
              "proportional");
    // What is set from now on belongs to this boot.
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "fixed"}, {.runtime = true}));
    start(store.saved, "another boot");
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::fixed);
}

TEST_F(ServiceEnds, TheNextBootEndsItAlsoWhereTheDiskRefusesToSaveThat) {
    service->adopt();
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {.runtime = true}));
    made("a1");
    store.full = true;
    start(store.saved, "another boot");
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::proportional);
    EXPECT_TRUE(service->node().instances().empty());
    store.full = false;
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "fixed"}, {.runtime = true}));
    start(store.saved, "another boot");
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::fixed)
        << "what was set in this boot belongs to it";
}

TEST_F(ServiceEnds, RevertingAGpuEndsWhatHoldsUntilTheReboot) {
    service->adopt();
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {}));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "proportional"},
                                        {.runtime = true}));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .revert = true}, {}));
    EXPECT_TRUE(service->node().until_reboot().empty());
    start(store.saved, "another boot");
    service->adopt();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::proportional);
}

TEST_F(ServiceEnds, TheConfiguredModesAreTakenAndInTheWayIsWhoIsIsolatedMore) {
    EXPECT_TRUE(service->are_as_configured());
    made("a1");
    of_gpus.mode = Mode::memory;
    EXPECT_FALSE(service->are_as_configured());
    EXPECT_EQ(service->in_the_way(std::nullopt).size(), 1U);
    EXPECT_EQ(service->in_the_way(Mode::memory_compute).size(), 1U);
    EXPECT_TRUE(service->in_the_way(Mode::none).empty()) << "from none to memory isolation grows";
    publisher.said.clear();
    ASSERT_TRUE(service->take_configured());
    EXPECT_TRUE(service->are_as_configured());
    EXPECT_EQ(service->node().find_gpu(v100)->settings.mode, Mode::memory);
    EXPECT_EQ(publisher.said.size(), 1U);
    const auto told = recorded.of(EventType::setting_changed);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(std::get<std::string>(told[0].details.at("setting")), "mode");
    store.full = true;
    of_gpus.mode = Mode::none;
    EXPECT_FALSE(service->take_configured());
    EXPECT_EQ(service->node().find_gpu(v100)->settings.mode, Mode::memory);
}

}  // namespace
}  // namespace cgpu::app::test
