#include "daemon/app/stops/stops.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;
using Signalled = std::vector<std::pair<std::int32_t, Signal>>;

class StopsTest : public ::testing::Test {
  protected:
    StopsTest() {
        instance.quotas.push_back({.gpu = *model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000001"),
                                   .memory_limit = model::Bytes::from_mib(100)});
        instance.owner.user = 1000;
        usage.all_members = {{300, 7, "boot"}, {200, 7, "boot"}};
        processes.living = {200, 300, 400};
        for (const std::int32_t pid : {200, 300, 400}) processes.users[pid] = 1000;
    }
    Result<std::vector<std::uint32_t>> stop(Nanos grace, bool only_owners = true, bool dry_run = false) {
        return stops.stop(instance.id, {grace, only_owners, dry_run});
    }

    FakeLoop loop;
    FakeProcesses processes{loop};
    FakeUsage usage;
    model::Instance instance{
        *model::InstanceId::parse("aaaa"), "train", 5, 0, model::Mode::memory_compute, {},
        model::Process{200, 7, "boot"}};
    bool gone = false;
    Stops stops{{loop, processes, usage, [this](const model::InstanceId& id) {
                     return gone || id != instance.id ? nullptr : &instance;
                 }}};
};

TEST_F(StopsTest, each_of_its_processes_is_asked_once_and_killed_after_the_grace) {
    processes.deaf = {200};
    const auto pids = stop(10 * kSecond);
    ASSERT_TRUE(pids) << pids.error().text;
    EXPECT_EQ(*pids, (std::vector<std::uint32_t>{200, 300}));
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}, {300, Signal::term}}));
    loop.advance(9 * kSecond);
    EXPECT_EQ(processes.signalled.size(), 2U);
    loop.advance(kSecond);
    EXPECT_EQ(processes.signalled.back(), (std::pair{200, Signal::kill}));
    EXPECT_FALSE(processes.living.contains(200));
    EXPECT_TRUE(processes.living.contains(400)) << "it isn't the instance's";
}

TEST_F(StopsTest, who_comes_later_is_killed_too_until_the_instance_is_gone) {
    ASSERT_TRUE(stop(0));
    loop.advance(0);
    usage.all_members = {{400, 7, "boot"}};
    loop.advance(kSecond);
    EXPECT_FALSE(processes.living.contains(400));
    gone = true;
    processes.living.insert(300);
    usage.all_members = {{300, 7, "boot"}};
    loop.advance(60 * kSecond);
    EXPECT_TRUE(processes.living.contains(300));
}

TEST_F(StopsTest, another_instance_of_its_id_is_left_alone) {
    processes.deaf = {200};
    ASSERT_TRUE(stop(kSecond));
    instance.generation = 6;
    loop.advance(60 * kSecond);
    EXPECT_TRUE(processes.living.contains(200));
}

TEST_F(StopsTest, a_pid_that_is_another_processs_now_is_not_signalled) {
    processes.started[300] = 8;
    const auto pids = stop(0);
    ASSERT_TRUE(pids);
    EXPECT_EQ(*pids, std::vector<std::uint32_t>{200});
    loop.advance(kSecond);
    EXPECT_TRUE(processes.living.contains(300));
}

TEST_F(StopsTest, a_second_stop_does_not_put_the_first_off) {
    processes.deaf = {200};
    ASSERT_TRUE(stop(2 * kSecond));
    ASSERT_TRUE(stop(100 * kSecond));
    loop.advance(2 * kSecond);
    EXPECT_FALSE(processes.living.contains(200));
}

TEST_F(StopsTest, by_itself_it_signals_those_of_the_owner_whatever_others_do) {
    processes.users[300] = 0;
    processes.deaf = {200, 300};
    ASSERT_TRUE(stops.ask(instance.id));
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}}));
    loop.advance(60 * kSecond);
    EXPECT_TRUE(processes.living.contains(200)) << "nobody said that it is to be killed";
    ASSERT_TRUE(stops.kill_all(instance.id));
    loop.advance(0);
    EXPECT_FALSE(processes.living.contains(200));
    EXPECT_TRUE(processes.living.contains(300));
    processes.may_signal = false;
    EXPECT_EQ(stops.ask(instance.id).error().reason, Refusal::Reason::unsupported);
    EXPECT_EQ(stops.kill_all(instance.id).error().reason, Refusal::Reason::unsupported);
}

TEST_F(StopsTest, what_root_has_put_in_ends_as_a_whole) {
    instance.creator = 0;
    processes.users[300] = 0;
    processes.deaf = {200, 300};
    ASSERT_TRUE(stops.ask(instance.id));
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}, {300, Signal::term}}));
    ASSERT_TRUE(stops.kill_all(instance.id));
    loop.advance(0);
    EXPECT_FALSE(processes.living.contains(300));
}

TEST_F(StopsTest, refuses_what_it_may_not_and_what_it_does_not_know) {
    processes.may_signal = false;
    EXPECT_EQ(stop(0).error().reason, Refusal::Reason::unsupported);
    EXPECT_NE(stop(0).error().text.find("kill.conf"), std::string::npos);
    processes.may_signal = true;
    processes.living.clear();
    EXPECT_EQ(stop(0).error().reason, Refusal::Reason::busy);
    gone = true;
    EXPECT_EQ(stop(0).error().reason, Refusal::Reason::not_found);
    EXPECT_TRUE(processes.signalled.empty());
}

TEST_F(StopsTest, by_ones_own_right_nobody_reaches_what_runs_as_somebody_else) {
    processes.users[300] = 0;
    const auto refused = stop(0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::not_permitted);
    EXPECT_NE(refused.error().text.find("its process 300 doesn't run as its owner"), std::string::npos);
    EXPECT_TRUE(processes.signalled.empty());
    processes.users[300] = 1000;
    processes.deaf = {200, 300};
    ASSERT_TRUE(stop(kSecond));
    processes.users[300] = 0;  // by a set-uid program, meanwhile
    loop.advance(2 * kSecond);
    EXPECT_FALSE(processes.living.contains(200));
    EXPECT_TRUE(processes.living.contains(300));
    EXPECT_TRUE(stop(0, false));
}

TEST_F(StopsTest, a_dry_run_signals_nobody) {
    EXPECT_TRUE(stop(0, true, true));
    loop.advance(60 * kSecond);
    EXPECT_TRUE(processes.signalled.empty());
}

}  // namespace
}  // namespace cgpu::app::test
