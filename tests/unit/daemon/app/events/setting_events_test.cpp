#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

/// What the service tells of changes.
class SettingEventsTest : public ServiceTest {
  protected:
    SettingEventsTest() {
        see_v100();
        recorded.all.clear();
    }

    static std::string detail(const Event& event, const char* name) {
        return std::get<std::string>(event.details.at(name));
    }
    /// `setting: before -> after`, of the only event there is.
    std::string changed() {
        const auto some = recorded.of(EventType::setting_changed);
        if (some.size() != 1) return std::to_string(some.size()) + " events";
        recorded.all.clear();
        last = some[0];
        return detail(last, "setting") + ": " + detail(last, "before") + " -> " + detail(last, "after");
    }

    Event last;
    Options options{.by = Who{1000, 55}};
    Options kept{.persist = true, .by = Who{1000, 55}};
    const model::InstanceId web = *model::InstanceId::parse("web");
};

TEST_F(SettingEventsTest, settings_of_a_gpu) {
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, options));
    EXPECT_EQ(changed(), "policy: proportional -> weighted");
    EXPECT_EQ(last.message,
              "GPU 0 (" + v100.to_string() +
                  "): policy weighted is set, instead of proportional, by user id 1000, process 55");
    EXPECT_EQ(last.gpu, v100);
    EXPECT_EQ(last.gpu_index, 0U);
    EXPECT_EQ(last.by, (Who{1000, 55}));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 10}, options));
    EXPECT_EQ(changed(), "max-inst: 20 -> 10");
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .prio_ratio = 80}, options));
    EXPECT_EQ(changed(), "prio-ratio: 50 -> 80");
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .revert = true}, options));
    EXPECT_EQ(recorded.of(EventType::setting_changed).size(), 3U);
}

TEST_F(SettingEventsTest, nothing_is_told_of_what_did_not_change) {
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "proportional"}, options));
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {.dry_run = true}));
    EXPECT_FALSE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 99}, options));
    store.full = true;
    EXPECT_FALSE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, options));
    EXPECT_TRUE(recorded.of(EventType::setting_changed).empty());
}

TEST_F(SettingEventsTest, settings_of_an_instance) {
    ASSERT_TRUE(create("web", "4"));
    recorded.all.clear();
    ASSERT_TRUE(service->changes().make(
        QuotaChange{.instance = web, .memory_limit = model::Bytes(2048 * kMib)}, options));
    EXPECT_EQ(changed(), "memory-limit: 4301MiB -> 2048MiB");
    EXPECT_EQ(last.message, "instance web (job-web): memory limit 2048MiB on GPU 0 (" + v100.to_string() +
                                ") is set, instead of 4301MiB, until it ends, by user id 1000, process 55");
    EXPECT_EQ(last.instance, web);
    EXPECT_EQ(last.name, "job-web");
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = web, .weight = 4}, options));
    EXPECT_EQ(changed(), "weight: 1 -> 4");
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = web, .high_priority = true}, options));
    EXPECT_EQ(changed(), "priority: normal -> high");
}

TEST_F(SettingEventsTest, drains_and_pauses) {
    ASSERT_TRUE(create("web", "4"));
    recorded.all.clear();
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = "0", .drained = true}, options));
    EXPECT_EQ(changed(), "drained: false -> true");
    EXPECT_EQ(last.message, "GPU 0 (" + v100.to_string() +
                                "): it is drained, and takes no new instance, by user id 1000, process 55");
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = "0", .drained = false}, options));
    EXPECT_EQ(changed(), "drained: true -> false");
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = web, .paused = true}, options));
    EXPECT_EQ(changed(), "paused: false -> true");
    EXPECT_EQ(last.message, "instance web (job-web): it is paused on GPU 0 (" + v100.to_string() +
                                "), until it is resumed or ends, by user id 1000, process 55");
    EXPECT_EQ(last.instance, web);
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = web, .weight = 1}, options));
    EXPECT_EQ(changed(), "paused: true -> false");
}

TEST_F(SettingEventsTest, kept_settings_are_told_of_once_each) {
    ASSERT_TRUE(create("web", "4"));
    recorded.all.clear();
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = web, .weight = 4}, kept));
    const auto both = recorded.of(EventType::setting_changed);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(detail(both[0], "setting"), "weight");
    EXPECT_EQ(detail(both[1], "setting"), "kept");
    EXPECT_EQ(both[1].message,
              "the next starts of \"job-web\" of user id 0: weight 4 is kept, by user id 1000, process 55");
    recorded.all.clear();
    ASSERT_TRUE(service->forget("job-web", std::nullopt, options));
    EXPECT_EQ(changed(), "kept: weight 4 -> ");
    EXPECT_EQ(last.name, "job-web");
}

TEST_F(SettingEventsTest, a_percentage_follows_max_inst) {
    processes.living.insert(100);
    ASSERT_TRUE(
        service->create_instance({"web", "", {{"CGPU_MEM", "1GiB"}, {"CGPU_COMPUTE", "50%"}}, caller, {}}));
    recorded.all.clear();
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 10}, options));
    const auto both = recorded.of(EventType::setting_changed);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_NE(both[1].message.find("50% of the compute are 5 slices of GPU 0"), std::string::npos)
        << both[1].message;
    EXPECT_EQ(detail(both[1], "before"), "10");
}

TEST_F(SettingEventsTest, several_changes_as_one) {
    ASSERT_TRUE(create("web", "4"));
    recorded.all.clear();
    ASSERT_TRUE(service->changes().apply({GpuChange{.gpu = "0", .policy = "fixed", .prio_ratio = 60},
                                          QuotaChange{.instance = "web", .weight = 3}},
                                         options));
    EXPECT_EQ(recorded.of(EventType::setting_changed).size(), 3U);
    for (const auto& event : recorded.all) EXPECT_EQ(event.by, (Who{1000, 55}));
}

TEST_F(SettingEventsTest, the_default_memory) {
    ASSERT_TRUE(service->set_default_memory(model::Bytes::from_gib(4), options));
    EXPECT_EQ(changed(), "default-memory: 0MiB -> 4096MiB");
    EXPECT_EQ(
        last.message,
        "the default memory is 4096MiB, as set for this node, instead of 0MiB, by user id 1000, process 55");
}

TEST_F(SettingEventsTest, instances_that_come_and_go) {
    caller.user = 0;
    ASSERT_TRUE(create("web", "4"));
    const auto admitted = recorded.of(EventType::instance_admitted);
    ASSERT_EQ(admitted.size(), 1U);
    EXPECT_EQ(admitted[0].by, (Who{0, 100}));
    EXPECT_EQ(std::get<std::uint64_t>(admitted[0].details.at("limit")), 4301 * kMib);
    EXPECT_FALSE(create("big", "14"));
    const auto refused = recorded.of(EventType::instance_refused);
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_EQ(refused[0].name, "job-big");
    EXPECT_EQ(detail(refused[0], "reason"), "no_memory");
    EXPECT_FALSE(create("big", "14", true));
    EXPECT_EQ(recorded.of(EventType::instance_refused).size(), 1U) << "a dry run is no request";
    ASSERT_TRUE(service->release_instance("web", caller, {}));
    EXPECT_EQ(recorded.of(EventType::instance_ended).size(), 1U);
}

TEST_F(SettingEventsTest, instances_without_end_are_told_of_together) {
    struct Known final : EventOutlet {
        void happened(const Event&, const Stamp&) override {}
        void instance_known(const model::Instance& instance) override { ids.insert(instance.id); }
        void instance_forgotten(const model::InstanceId& id) override { ids.erase(id); }
        std::set<model::InstanceId> ids;
    } known;
    recorded.events.add(known);
    const auto most = static_cast<std::size_t>(ComingAndGoing::kOfUser.at_once);
    constexpr int kTimes = 5000;
    caller.user = 1000;
    processes.users[100] = 1000;
    for (int each = 0; each < kTimes; ++each) {
        ASSERT_TRUE(create("web", "4"));
        EXPECT_EQ(known.ids.size(), 1U) << "other lines of the log have its name";
        ASSERT_TRUE(service->release_instance("web", caller, {}));
        EXPECT_TRUE(known.ids.empty());
    }
    EXPECT_EQ(recorded.of(EventType::instance_admitted).size(), most + 1);
    EXPECT_EQ(recorded.of(EventType::instance_ended).size(), most + 1);
    loop.advance(Repeated::kFirstPause);
    const auto at_end = recorded.of(EventType::instance_ended).back();
    EXPECT_EQ(std::get<std::uint64_t>(at_end.details.at("count")), kTimes - most - 1);
    EXPECT_TRUE(known.ids.empty()) << "an event that is told late names nothing that is gone";
    recorded.all.clear();
    // Others, and root most of all, are told of as before.
    for (const std::uint32_t user : {1001U, 0U}) {
        caller.user = user;
        processes.users[100] = user;
        const int times = user == 0 ? 500 : 3;
        const auto before = recorded.of(EventType::instance_admitted).size();
        for (int each = 0; each < times; ++each) {
            const auto id = "web-" + std::to_string(user);
            ASSERT_TRUE(create(id, "4"));
            ASSERT_TRUE(service->release_instance(id, caller, {}));
        }
        EXPECT_EQ(recorded.of(EventType::instance_admitted).size() - before, static_cast<std::size_t>(times));
    }
    // The user's own come back with the time.
    caller.user = 1000;
    processes.users[100] = 1000;
    loop.advance(600 * kSecond);
    recorded.all.clear();
    for (int each = 0; each < 10; ++each) {
        ASSERT_TRUE(create("web", "4"));
        ASSERT_TRUE(service->release_instance("web", caller, {}));
    }
    EXPECT_EQ(recorded.of(EventType::instance_admitted).size(), 10U);
}

TEST_F(SettingEventsTest, a_gpu_that_goes_comes_back_and_has_an_error) {
    service->driver_lost("no driver");
    ASSERT_EQ(recorded.of(EventType::gpu_lost).size(), 1U);
    EXPECT_EQ(recorded.all[0].gpu, v100);
    see_v100();
    EXPECT_EQ(recorded.of(EventType::gpu_found).size(), 1U);
    model::SeenGpu gpu;
    gpu.uuid = v100;
    gpu.model_name = "V100";
    gpu.total = model::Bytes::from_mib(16130);
    service->gpus_seen({{gpu}, {}, {{v100, 79}}});
    const auto errors = recorded.of(EventType::gpu_error);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(std::get<std::uint64_t>(errors[0].details.at("xid")), 79U);
}

}  // namespace
}  // namespace cgpu::app::test
