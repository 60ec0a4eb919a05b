#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

TEST_F(ServiceTest, a_lost_gpu_is_not_present_and_says_why) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    service->gpus_seen({{}, {{0, "NVML says: GPU is lost"}}, {}});
    const auto* lost = service->node().find_gpu(v100);
    ASSERT_NE(lost, nullptr);
    EXPECT_FALSE(lost->present);
    EXPECT_EQ(lost->obstacle, "NVML says: GPU is lost");
    EXPECT_TRUE(service->node().find_instance(*model::InstanceId::parse("aaaa"))) << "its instance stays";
    EXPECT_FALSE(create("bbbb", "4"));
    see_v100();
    EXPECT_TRUE(service->node().find_gpu(v100)->present);
    EXPECT_EQ(service->node().find_gpu(v100)->obstacle, "");
    EXPECT_TRUE(create("bbbb", "4"));
}

TEST_F(ServiceTest, nothing_is_put_on_gpus_without_a_driver) {
    see_v100();
    service->driver_lost("NVML says: Driver Not Loaded");
    const auto refused = create("aaaa", "4");
    ASSERT_FALSE(refused);
    const auto saves = store.saves;
    service->driver_lost("NVML says: Driver Not Loaded");
    EXPECT_EQ(store.saves, saves) << "nothing new";
    see_v100();
    EXPECT_TRUE(create("aaaa", "4"));
}

TEST_F(ServiceTest, a_gpu_of_an_mps_server_takes_no_instance_unless_the_server_is_in_one) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    model::SeenGpus seen;
    seen.gpus = {*service->node().find_gpu(v100)};
    seen.mps_servers = {{v100, 300}};
    service->gpus_seen(seen);
    EXPECT_EQ(service->node().find_gpu(v100)->obstacle, "") << "it has ended meanwhile";
    processes.living.insert(300);
    service->gpus_seen(seen);
    const auto refused = create("bbbb", "4");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("MPS server (process 300)"), std::string::npos)
        << refused.error().text;
    EXPECT_TRUE(service->node().find_instance(*model::InstanceId::parse("aaaa"))) << "the other one stays";
    links.members[*model::InstanceId::parse("aaaa")] = {300, 7, "boot"};
    service->gpus_seen(seen);
    EXPECT_EQ(service->node().find_gpu(v100)->obstacle, "");
    EXPECT_TRUE(create("bbbb", "4"));
}

TEST_F(ServiceTest, the_drivers_figure_is_kept_with_the_accounts_of_that_moment) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    EXPECT_FALSE(service->usage(v100).at_look) << "the driver has told none";
    usage.used = 300;
    model::SeenGpus seen;
    seen.gpus = {*service->node().find_gpu(v100)};
    seen.memory_used = {{v100, model::Bytes(700)}};
    service->gpus_seen(seen);
    usage.used = 500;
    for (const auto& its : {service->usage(v100), service->usage().gpus.at(v100)}) {
        ASSERT_TRUE(its.at_look);
        EXPECT_EQ(its.at_look->in_driver, 700u);
        EXPECT_EQ(its.at_look->charged, 300u);
        EXPECT_EQ(its.memory_used, 500u);
    }
    service->gpus_seen({{}, {{0, "NVML says: GPU is lost"}}, {}});
    EXPECT_FALSE(service->usage(v100).at_look);
}

TEST_F(ServiceTest, an_instance_belongs_to_whom_it_runs_as) {
    see_v100();
    processes.living.insert(100);
    const auto owner_of = [&](const char* id, std::map<std::string, std::string> variables, Origin origin) {
        variables["CGPU_MEM"] = "1GiB";
        const auto created = service->create_instance({id, "web", variables, caller, {}, std::move(origin)});
        return created ? created->instance.owner : model::Owner{4711};
    };
    caller.user = processes.users[100] = 0;
    EXPECT_EQ(owner_of("a", {}, {}), model::Owner{}) << "an engine of root's doesn't say who called it";
    EXPECT_EQ(owner_of("b", {{"CGPU_OWNER", "alice"}}, {}), (model::Owner{{}, "alice"}));
    EXPECT_EQ(owner_of("c", {{"org.cgpu.owner", "alice"}}, {}), (model::Owner{{}, "alice"}));
    EXPECT_EQ(owner_of("d", {{"CGPU_OWNER", "alice"}}, {{}, 1000}), model::Owner{1000}) << "as sudo runs it";
    caller.user = processes.users[100] = 1001;
    EXPECT_EQ(owner_of("e", {{"CGPU_OWNER", "alice"}}, {}), model::Owner{1001});
    EXPECT_EQ(owner_of("f", {}, {{}, 1001}), model::Owner{1001});
    EXPECT_EQ(owner_of("g", {}, {{}, 1000}), model::Owner{1001}) << "only root is believed";
}

TEST_F(ServiceTest, an_instance_keeps_its_image) {
    see_v100();
    processes.living.insert(100);
    ASSERT_TRUE(service->create_instance({"aaaa", "web", {{"CGPU_MEM", "1GiB"}}, caller, {}, {"train:1"}}));
    EXPECT_EQ(service->node().find_instance(*model::InstanceId::parse("aaaa"))->image, "train:1");
}

TEST_F(ServiceTest, errors_of_a_gpu_are_counted_and_published) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    EXPECT_EQ(service->usage(v100).xid_errors, 0u);
    model::SeenGpus seen;
    seen.lost = {{0, "NVML says: GPU is lost"}};
    seen.xids = {{v100, 48}, {v100, 79}};
    publisher.said.clear();
    service->gpus_seen(seen);
    EXPECT_EQ(service->usage(v100).xid_errors, 2u);
    EXPECT_EQ(service->usage(v100).last_xid, 79u);
    const std::string gpu = v100.to_string();
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"gpus", "xid 48 " + gpu, "xid 79 " + gpu}));
}

// Found as a configuration that changed nothing on a node whose GPU had been seen before it was written.
TEST_F(ServiceTest, a_gpu_follows_a_reloaded_configuration_and_tells_it) {
    see_v100();
    Settings configured;
    configured.settings_for = [](const model::SeenGpu&) {
        return model::GpuSettings{model::Policy::fixed, 10, 70};
    };
    publisher.said.clear();
    service->set_settings(configured);
    EXPECT_EQ(service->node().find_gpu(v100)->settings, configured.settings_for({}));
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(publisher.said, std::vector<std::string>{"gpus"});
    const auto saves = store.saves;
    service->set_settings(configured);
    see_v100();
    EXPECT_EQ(store.saves, saves) << "nothing new";
}

TEST_F(ServiceTest, a_gpu_that_was_away_follows_when_it_is_back) {
    see_v100();
    service->driver_lost("NVML says: Driver Not Loaded");
    Settings configured;
    configured.settings_for = [](const model::SeenGpu&) {
        return model::GpuSettings{model::Policy::fixed, 10, 70};
    };
    service->set_settings(configured);
    EXPECT_EQ(service->node().find_gpu(v100)->settings.max_inst, 20U) << "its index isn't known now";
    see_v100();
    EXPECT_EQ(service->node().find_gpu(v100)->settings.max_inst, 10U);
}

}  // namespace
}  // namespace cgpu::app::test
