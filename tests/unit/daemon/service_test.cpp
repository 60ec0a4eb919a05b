#include "daemon/app/service.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/daemon/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;
constexpr std::uint64_t kMib = 1 << 20;

class ServiceTest : public ::testing::Test {
  protected:
    ServiceTest() { start({}); }

    void start(model::Node node) {
        Settings settings;
        settings.settings_for = [](const model::SeenGpu&) { return model::GpuSettings{}; };
        service.emplace(std::move(node), settings,
                        Service::Outside{loop, store, publisher, links, processes, compute, usage, door,
                                         [] { return 42u; }});
    }

    void see_v100() {
        model::SeenGpu gpu;
        gpu.uuid = *model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000001");
        gpu.model_name = "V100";
        gpu.total = model::Bytes::from_mib(16130);
        service->gpus_seen({{gpu}, {}});
        v100 = gpu.uuid;
    }

    Result<Created> create(const std::string& id, const std::string& gib, bool dry_run = false) {
        processes.living.insert(100);
        return service->create_instance(
            id, "job-" + id, {{"ALIYUN_COM_GPU_MEM_CONTAINER", gib}, {"ALIYUN_COM_GPU_MEM_DEV", "15"}},
            caller, {dry_run});
    }
    Result<void> attach(const std::string& id, std::int32_t pid) {
        const auto process = service->identify(pid);
        if (!process) return tl::unexpected(process.error());
        return service->attach(id, *process, caller, {});
    }

    Caller caller{0, {100, 7, "boot"}};
    FakeLoop loop;
    FakeStore store;
    FakePublisher publisher;
    FakeLinks links;
    FakeProcesses processes{loop};
    FakeCompute compute;
    FakeUsage usage;
    FakeDoor door;
    model::Uuid v100;
    std::optional<Service> service;
};

TEST_F(ServiceTest, an_adopted_instance_whose_link_cannot_be_opened_ends_with_its_process) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert(200);
    ASSERT_TRUE(attach("aaaa", 200));
    const auto saved = service->node();
    links.broken = true;
    start(saved);
    service->adopt();
    EXPECT_EQ(service->node().instances().size(), 1U);
    processes.kill(200);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, a_lost_gpu_is_not_present_and_says_why) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    service->gpus_seen({{}, {{0, "NVML says: GPU is lost"}}});
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

TEST_F(ServiceTest, lets_in_who_made_an_instance_and_the_user_of_its_first_process) {
    see_v100();
    caller.user = 1000;
    processes.users = {{100, 1000}, {200, 100000}};
    processes.parents = {{200, 100}};
    processes.living = {100, 200};
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created) << created.error().text;
    EXPECT_EQ(links.allowed[created->instance.id], (std::set<std::uint32_t>{1000}));
    ASSERT_TRUE(attach("aaaa", 200)) << "a container's root, started by a process of the caller";
    EXPECT_EQ(links.allowed[created->instance.id], (std::set<std::uint32_t>{1000, 100000}));
}

TEST_F(ServiceTest, a_user_cannot_attach_another_users_process) {
    see_v100();
    caller.user = 1000;
    processes.living = {100, 200, 201};
    processes.users = {{100, 1000}, {200, 0}, {201, 1000}};
    processes.parents = {{200, 1}, {201, 1}};
    ASSERT_TRUE(create("aaaa", "4"));
    const auto refused = attach("aaaa", 200);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::not_permitted);
    EXPECT_TRUE(attach("aaaa", 201));
}

TEST_F(ServiceTest, a_caller_that_ended_while_polkit_was_asked_gets_no_instance) {
    see_v100();
    processes.living = {100};
    processes.kill(100);
    const auto refused = service->create_instance("aaaa", "x", {{"CGPU_MEM", "1GiB"}}, caller, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::not_found);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, a_switched_mode_is_that_of_an_instance_that_asks_for_none) {
    see_v100();
    door.switched = model::Mode::none;
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created);
    EXPECT_EQ(created->instance.mode, model::Mode::none);
}

TEST_F(ServiceTest, the_default_memory_of_a_node_that_has_none_is_not_managed) {
    see_v100();
    const auto before = service->node();
    processes.living.insert(100);
    const auto created =
        service->create_instance("aaaa", "job", {{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, caller, {});
    ASSERT_TRUE(created) << created.error().text;
    EXPECT_TRUE(created->instance.quotas.empty());
    EXPECT_TRUE(created->link_folder.empty());
    EXPECT_EQ(service->node(), before);
}

TEST_F(ServiceTest, admits_the_seeds_case_to_the_byte) {
    see_v100();
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created) << created.error().text;
    EXPECT_EQ(created->instance.quotas.at(0).memory_limit.count(), 4509925376u);
    EXPECT_EQ(created->link_folder, "/run/cgpu/instances/aaaa/link");
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(compute.generation, service->node().generation());
}

TEST_F(ServiceTest, a_closed_door_refuses_new_instances_with_its_reason_and_hears_of_all_that_come_and_go) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    EXPECT_EQ(door.changes, 1);
    door.closed = true;
    for (const bool dry_run : {true, false}) {
        const auto refused = create("bbbb", "4", dry_run);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().text, "new instances: the door is closed. Try: later.");
    }
    EXPECT_EQ(service->node().instances().size(), 1u);
    ASSERT_TRUE(service->release_instance("aaaa", {}));
    EXPECT_EQ(door.changes, 2);
}

TEST_F(ServiceTest, refuses_what_does_not_fit_and_leaves_nothing_behind) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "8"));
    const auto before = service->node();
    const auto refused = create("bbbb", "8");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::no_memory) << refused.error().text;
    EXPECT_EQ(service->node(), before);
    EXPECT_EQ(links.opened.size(), 1u);
}

TEST_F(ServiceTest, a_percentage_stays_when_max_inst_changes_and_its_new_weight_is_published) {
    see_v100();
    processes.living.insert(100);
    ASSERT_TRUE(
        service->create_instance("part", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_COMPUTE", "25%"}}, caller, {}));
    ASSERT_TRUE(
        service->create_instance("number", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_WEIGHT", "5"}}, caller, {}));
    const auto weight_of = [&](const char* id) {
        return service->node().find_instance(*model::InstanceId::parse(id))->quotas.at(0).weight;
    };
    publisher.said.clear();
    const auto refused = service->set_max_inst(v100, 22, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    EXPECT_NE(refused.error().text.find("25% of instance part (x)"), std::string::npos)
        << refused.error().text;
    EXPECT_FALSE(service->set_max_inst(v100, 22, {.dry_run = true}));
    ASSERT_TRUE(service->set_max_inst(v100, 24, {.dry_run = true}));
    EXPECT_TRUE(publisher.said.empty());
    ASSERT_TRUE(service->set_max_inst(v100, 24, {}));
    EXPECT_EQ(weight_of("part"), 6U);
    EXPECT_EQ(weight_of("number"), 5U);
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"changed part", "gpu " + v100.to_string()}));
}

TEST_F(ServiceTest, changes_nothing_in_a_dry_run) {
    see_v100();
    const auto before = service->node();
    const auto said = publisher.said;
    ASSERT_TRUE(create("aaaa", "4", true));
    ASSERT_TRUE(service->set_policy(v100, "weighted", {true}));
    EXPECT_EQ(service->node(), before);
    EXPECT_EQ(publisher.said, said);
    EXPECT_TRUE(links.opened.empty());
}

TEST_F(ServiceTest, a_full_disk_changes_nothing_and_is_said) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    const auto before = service->node();
    const auto said = publisher.said;
    store.full = true;
    const auto policy = service->set_policy(v100, "2", {});
    ASSERT_FALSE(policy);
    EXPECT_EQ(policy.error().reason, Refusal::Reason::storage);
    EXPECT_FALSE(create("bbbb", "4"));
    EXPECT_EQ(service->node(), before);
    EXPECT_EQ(publisher.said, said);
    EXPECT_EQ(links.opened.size(), 1u);
}

TEST_F(ServiceTest, says_nothing_where_nothing_changes) {
    see_v100();
    ASSERT_TRUE(service->set_policy(v100, "2", {}));
    const auto said = publisher.said.size();
    const auto saves = store.saves;
    ASSERT_TRUE(service->set_policy(v100, "weighted", {}));
    EXPECT_EQ(publisher.said.size(), said);
    EXPECT_EQ(store.saves, saves);
}

TEST_F(ServiceTest, an_instance_goes_when_its_creator_dies_before_attach) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.kill(100);
    EXPECT_TRUE(service->node().instances().empty());
    EXPECT_TRUE(store.saved.instances().empty());
    EXPECT_TRUE(links.opened.empty());
    EXPECT_EQ(publisher.said.at(publisher.said.size() - 2), "removed aaaa");
}

TEST_F(ServiceTest, after_attach_its_process_counts_and_not_its_creator) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert(200);
    ASSERT_TRUE(attach("aaaa", 200));
    processes.kill(100);
    EXPECT_EQ(service->node().instances().size(), 1u);
    processes.kill(200);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, it_stays_as_long_as_a_child_uses_its_link) {
    see_v100();
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created);
    links.in_use.insert(created->instance.id);
    processes.kill(100);
    EXPECT_EQ(service->node().instances().size(), 1u);
    links.in_use.clear();
    // The id that the link names goes with the link.
    service->link_idle(*links.opened.begin());
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, it_goes_on_with_another_of_its_processes) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert({200, 300});
    ASSERT_TRUE(attach("aaaa", 200));
    const auto id = *links.opened.begin();
    links.members[id] = {300, 7, "boot"};
    links.refreshed.clear();
    processes.kill(200);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 200) << "it may be ending, too";
    loop.advance(1'000'000'000);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 300);
    EXPECT_EQ(store.saved.find_instance(id)->attached->pid, 300);
    EXPECT_EQ(links.refreshed, std::vector{id}) << "who descends from it belongs to the instance";
    EXPECT_EQ(publisher.said.back(), "changed aaaa");
    links.members.clear();
    processes.kill(300);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, processes_that_end_together_are_not_gone_on_with) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert({200, 300});
    ASSERT_TRUE(attach("aaaa", 200));
    links.members[*links.opened.begin()] = {300, 7, "boot"};
    processes.kill(200);
    links.members.clear();
    const auto saves = store.saves;
    loop.advance(1'000'000'000);
    EXPECT_TRUE(service->node().instances().empty());
    EXPECT_EQ(store.saves, saves + 1);
}

TEST_F(ServiceTest, it_goes_on_with_another_where_the_disk_is_full_too) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert({200, 300});
    ASSERT_TRUE(attach("aaaa", 200));
    links.members[*links.opened.begin()] = {300, 7, "boot"};
    store.full = true;
    processes.kill(200);
    loop.advance(1'000'000'000);
    store.full = false;
    EXPECT_EQ(service->node().instances().size(), 1u);
    links.members.clear();
    processes.kill(300);
    EXPECT_TRUE(service->node().instances().empty()) << "that process is watched";
}

TEST_F(ServiceTest, a_restarted_service_finds_who_is_left_of_an_instance) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert({200, 300});
    ASSERT_TRUE(attach("aaaa", 200));
    const auto id = *links.opened.begin();
    processes.living.erase(200);
    links.members[id] = {300, 7, "boot"};
    start(store.saved);
    service->adopt();
    loop.advance(1);
    loop.advance(1'000'000'000);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 300);
}

TEST_F(ServiceTest, who_asked_for_an_instance_is_not_replaced_before_attach) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.living.insert(300);
    links.members[*links.opened.begin()] = {300, 7, "boot"};
    processes.kill(100);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, what_an_ending_instance_has_is_worth_another_try) {
    see_v100();
    const auto created = create("aaaa", "8");
    ASSERT_TRUE(created);
    EXPECT_EQ(create("bbbb", "8").error().reason, Refusal::Reason::no_memory);
    links.in_use.insert(created->instance.id);
    processes.kill(100);
    EXPECT_EQ(create("bbbb", "8").error().reason, Refusal::Reason::try_again);
    // A child that lives on holds it for longer than any try is worth.
    loop.advance(3'000'000'000);
    EXPECT_EQ(create("bbbb", "8").error().reason, Refusal::Reason::no_memory);
}

TEST_F(ServiceTest, one_that_cannot_be_removed_from_disk_goes_later) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    store.full = true;
    processes.kill(100);
    EXPECT_EQ(service->node().instances().size(), 1u);
    store.full = false;
    loop.advance(2'000'000'000);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, a_restarted_service_takes_up_who_lives_and_drops_who_does_not) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    ASSERT_TRUE(create("bbbb", "4"));
    processes.living.insert({200, 201});
    ASSERT_TRUE(attach("aaaa", 200));
    ASSERT_TRUE(attach("bbbb", 201));
    processes.living.erase(201);
    start(store.saved);
    service->adopt();
    loop.advance(1);
    ASSERT_EQ(service->node().instances().size(), 1u);
    EXPECT_EQ(service->node().instances().begin()->first.str(), "aaaa");
    EXPECT_EQ(links.opened.size(), 1u);
    processes.kill(200);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, one_that_nobody_attaches_after_a_restart_goes) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    start(store.saved);
    service->adopt();
    loop.advance(1);
    EXPECT_EQ(service->node().instances().size(), 1u);
    loop.advance(31'000'000'000);
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, less_memory_than_is_in_use_is_refused_with_the_figure) {
    see_v100();
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created);
    usage.used = 3000 * kMib;
    const auto refused = service->set_memory(created->instance.id, "", 2000 * kMib, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    EXPECT_NE(refused.error().text.find("3000MiB"), std::string::npos) << refused.error().text;
    ASSERT_TRUE(service->set_memory(created->instance.id, "0", 5000 * kMib, {}));
    EXPECT_EQ(links.refreshed.size(), 1u);
    ASSERT_TRUE(service->set_memory(created->instance.id, "0", 2000 * kMib, {.force = true}));
    EXPECT_EQ(links.refreshed.size(), 2u);
}

TEST_F(ServiceTest, asks_for_nothing_is_refused_clearly) {
    see_v100();
    processes.living.insert(100);
    const auto refused = service->create_instance("aaaa", "x", {}, caller, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("Try: "), std::string::npos);
}

// Found as a typo that gave a container the whole card.
TEST_F(ServiceTest, a_variable_that_nobody_knows_is_refused_or_told) {
    see_v100();
    processes.living.insert(100);
    const std::map<std::string, std::string> typo = {{"CGPU_MEMORY", "1GiB"}};
    const auto refused = service->create_instance("aaaa", "x", typo, caller, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::invalid);
    EXPECT_NE(refused.error().text.find("Try: CGPU_MEM, or unknown_variables"), std::string::npos)
        << refused.error().text;
    service->set_settings(
        {{}, [](const model::SeenGpu&) { return model::GpuSettings{}; }, request::UnknownNames::warn});
    const auto told = service->create_instance("aaaa", "x", typo, caller, {});
    ASSERT_TRUE(told) << told.error().text;
    EXPECT_TRUE(told->instance.quotas.empty()) << "not managed";
    const auto managed =
        service->create_instance("aaaa", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_WIEGHT", "2"}}, caller, {});
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_EQ(managed->instance.quotas.size(), 1U);
}

}  // namespace
}  // namespace cgpu::app::test
