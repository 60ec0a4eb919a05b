// The life and death of an instance.
#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

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

TEST_F(ServiceTest, an_instance_goes_when_its_creator_dies_before_attach) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    processes.kill(100);
    EXPECT_TRUE(service->node().instances().empty());
    EXPECT_TRUE(store.saved.instances().empty());
    EXPECT_TRUE(links.opened.empty());
    EXPECT_EQ(publisher.said.back(), "removed aaaa");
}

TEST_F(ServiceTest, the_id_of_an_ended_one_stays_its_users) {
    see_v100();
    const std::string web = "0123456789ab" + std::string(52, '0');
    ASSERT_TRUE(create(web, "1"));
    ASSERT_TRUE(create("by-hand", "1"));
    processes.kill(100);
    ASSERT_TRUE(service->node().instances().empty());
    const Caller alice{1000, {200, 7, "boot"}};
    const auto as_alice = [&](const std::string& id) {
        processes.living.insert(200);
        processes.users[200] = 1000;
        return service->create_instance({id, "web", {{"CGPU_MEM", "1MiB"}}, alice, {}});
    };
    for (const std::string& id : {web, "0123456789ab" + std::string(20, '1')}) {
        const auto taken = as_alice(id);
        ASSERT_FALSE(taken) << id;
        EXPECT_EQ(taken.error().reason, model::Refusal::Reason::exists);
    }
    // Nor as a container that gets whole GPUs.
    const model::Instance whole{
        *model::InstanceId::parse(web), "web", 0, 1, model::Mode::none, {}, std::nullopt, 1000};
    const auto booked = service->put_in(whole, {}, alice, {});
    ASSERT_FALSE(booked);
    EXPECT_NE(booked.error().text.find("user id 0 had it"), std::string::npos) << booked.error().text;
    EXPECT_TRUE(as_alice("by-hand")) << "an id that anyone may choose";
    EXPECT_TRUE(as_alice("1" + web));
    EXPECT_TRUE(create(web, "1"));
}

TEST(EndedIds, the_latest_of_each_user_are_known) {
    const auto id_of = [](std::size_t number) {
        const std::string digits = std::to_string(number);
        return *model::InstanceId::parse(std::string(12 - digits.size(), '0') + digits +
                                         std::string(20, 'a'));
    };
    EndedIds ended;
    for (std::size_t i = 0; i < EndedIds::kMostOfUser; ++i) ended.add(id_of(i), 0);
    ended.add(id_of(0), 0);
    ended.add(id_of(2000), 0);
    for (std::size_t i = 3000; i < 6000; ++i) ended.add(id_of(i), 1000);
    ended.add(id_of(2), 1000);
    EXPECT_EQ(ended.user_of(id_of(0)), 0U) << "it ended again";
    EXPECT_EQ(ended.user_of(id_of(1)), std::nullopt);
    EXPECT_EQ(ended.user_of(id_of(2)), 0U) << "another user's make no difference";
    EXPECT_EQ(ended.user_of(id_of(3000)), std::nullopt);
    EXPECT_EQ(ended.user_of(id_of(5999)), 1000U);
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
    // The id that the link passes is destroyed with the link.
    service->link_idle(*links.opened.begin());
    EXPECT_TRUE(service->node().instances().empty());
}

TEST_F(ServiceTest, it_goes_on_with_another_of_its_processes) {
    const auto id = attached_with_another();
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

/// A search needn't read the mounts of processes that are known to live for another instance. One that has
/// ended may have left its pid to a process of this instance.
TEST_F(ServiceTest, the_living_first_processes_of_other_instances_are_not_looked_at) {
    see_v100();
    std::int32_t pid = 200;
    for (const auto* id : {"aaaa", "bbbb", "cccc"}) {
        ASSERT_TRUE(create(id, "2"));
        processes.living.insert(pid);
        ASSERT_TRUE(attach(id, pid++));
    }
    ASSERT_TRUE(create("dddd", "2")) << "nothing is attached to it";
    links.in_use.insert(*model::InstanceId::parse("bbbb"));
    processes.kill(201);
    EXPECT_EQ(links.asked_but, (std::vector<model::Process>{{200, 7, "boot"}, {202, 7, "boot"}}));
    processes.kill(200);
    EXPECT_EQ(links.asked_but, (std::vector<model::Process>{{202, 7, "boot"}}));
}

TEST_F(ServiceTest, a_killed_one_does_not_go_on_with_what_does_not_use_the_gpu) {
    const auto id = attached_with_another();
    processes.by_signal = {200};
    links.in_use.insert(id);
    processes.kill(200);
    loop.advance(1'000'000'000);
    ASSERT_NE(service->node().find_instance(id), nullptr) << "it uses the GPU";
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 300);
    links.in_use.clear();
    links.members[id] = {400, 7, "boot"};
    processes.by_signal = {300};
    processes.kill(300);
    loop.advance(1'000'000'000);
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

TEST_F(ServiceTest, who_it_goes_on_with_is_saved_when_the_disk_allows_it) {
    const auto id = attached_with_another();
    store.full = true;
    processes.kill(200);
    loop.advance(3'000'000'000);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 200);
    store.full = false;
    loop.advance(1'000'000'000);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 300);
    EXPECT_EQ(store.saved, service->node());
}

TEST_F(ServiceTest, who_has_ended_before_the_disk_allowed_it_is_not_saved) {
    const auto id = attached_with_another();
    store.full = true;
    processes.kill(200);
    loop.advance(1'000'000'000);
    // Its memory is still shown, so it can't end yet.
    links.members.clear();
    links.in_use.insert(id);
    processes.kill(300);
    store.full = false;
    loop.advance(3'000'000'000);
    EXPECT_EQ(service->node().find_instance(id)->attached->pid, 200);
    links.in_use.clear();
    service->link_idle(id);
    EXPECT_TRUE(service->node().instances().empty());
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
    // A child that lives on holds it for too long to try again.
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

TEST_F(ServiceTest, a_release_that_the_disk_refuses_is_refused_and_not_made_later) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    store.full = true;
    const auto released = service->release_instance("aaaa", caller, {});
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().reason, Refusal::Reason::storage);
    EXPECT_EQ(links.opened.size(), 1u);
    store.full = false;
    loop.advance(5'000'000'000);
    EXPECT_EQ(service->node().instances().size(), 1u);
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
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

/// Its reply was lost: it holds memory for half a minute, not for half a minute after each restart.
TEST_F(ServiceTest, one_that_nobody_attaches_goes_half_a_minute_after_it_was_made) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    const auto lives_after = [this](std::uint64_t now, Nanos more) {
        wall_clock = now;
        start(store.saved);
        service->adopt();
        loop.advance(more);
        return !service->node().instances().empty();
    };
    EXPECT_TRUE(lives_after(42 + 20, 9'000'000'000));
    EXPECT_TRUE(lives_after(42 - 20, 29'000'000'000)) << "the clock was set back";
    EXPECT_FALSE(lives_after(42 + 29, 1'100'000'000));
}

TEST_F(ServiceTest, an_instance_that_the_state_does_not_have_is_taken_up_as_it_was) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    const auto former = store.saved;
    ASSERT_TRUE(create("bbbb", "8"));
    processes.living.insert(200);
    ASSERT_TRUE(attach("bbbb", 200));
    const auto lost = *service->node().find_instance(*model::InstanceId::parse("bbbb"));
    start(former);
    service->adopt();
    publisher.said.clear();
    links.opened.erase(lost.id);
    EXPECT_TRUE(service->take_up({{lost, 77}}).empty());
    EXPECT_EQ(*service->node().find_instance(lost.id), lost) << "its generation included: leases have it";
    EXPECT_GT(service->node().generation(), 77U) << "nobody has seen that generation";
    EXPECT_EQ(store.saved, service->node());
    EXPECT_TRUE(links.opened.contains(lost.id));
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"added bbbb", "gpus"}));
    processes.kill(200);
    EXPECT_EQ(service->node().find_instance(lost.id), nullptr) << "it is watched";
}

TEST_F(ServiceTest, what_does_not_fit_beside_the_others_is_not_taken_up) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "12"));
    auto lost = *service->node().find_instance(*model::InstanceId::parse("aaaa"));
    lost.id = *model::InstanceId::parse("bbbb");
    const auto before = service->node();
    const auto untaken = service->take_up({{lost, 77}});
    ASSERT_EQ(untaken.size(), 1U);
    EXPECT_EQ(untaken[0].refusal.reason, Refusal::Reason::no_memory);
    EXPECT_EQ(untaken[0].record.instance, lost);
    EXPECT_EQ(service->node(), before);
    EXPECT_FALSE(links.opened.contains(lost.id));
    store.full = true;
    lost.quotas.at(0).memory_limit = model::Bytes::from_mib(1);
    EXPECT_EQ(service->take_up({{lost, 77}}).at(0).refusal.reason, Refusal::Reason::storage);
    EXPECT_EQ(service->node(), before);
}

}  // namespace
}  // namespace cgpu::app::test
