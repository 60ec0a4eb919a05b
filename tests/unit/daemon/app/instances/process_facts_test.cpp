#include "daemon/app/instances/process_facts.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app {
namespace {

using test::FakeLoop;
using test::FakeProcesses;

TEST(ProcessFacts, AreSortedByPidAndEachProcessIsThereOnce) {
    FakeLoop loop;
    FakeProcesses processes(loop);
    processes.living = {11, 12};
    processes.users = {{12, 1000}};
    processes.commands = {{12, "python3"}};
    ProcessFacts facts(loop, processes);
    const auto of = [&](std::int32_t pid) { return *processes.identify(pid); };
    const auto all = facts.of({of(12), of(11), of(12)});
    EXPECT_EQ(all, (std::vector<view::Process>{{11, 0, "job"}, {12, 1000, "python3"}}));
}

TEST(ProcessFacts, AreReadOnceASecondHoweverOftenTheyAreAskedFor) {
    FakeLoop loop;
    FakeProcesses processes(loop);
    processes.living = {11, 12};
    ProcessFacts facts(loop, processes);
    const auto eleven = *processes.identify(11);
    const auto twelve = *processes.identify(12);
    for (int i = 0; i < 5; ++i) static_cast<void>(facts.of({eleven}));
    EXPECT_EQ(processes.asked_for_owners, 1);
    static_cast<void>(facts.of({eleven, twelve}));
    EXPECT_EQ(processes.asked_for_owners, 2) << "one that is new";
    processes.commands = {{11, "renamed"}};
    EXPECT_EQ(facts.of({eleven})[0].command, "job");
    loop.advance(kSecond);
    EXPECT_EQ(facts.of({eleven})[0].command, "renamed");
}

TEST(ProcessFacts, OfOneThatHasEndedThereIsNothingButItsPid) {
    FakeLoop loop;
    FakeProcesses processes(loop);
    processes.living = {11};
    const auto eleven = *processes.identify(11);
    processes.living = {};
    ProcessFacts facts(loop, processes);
    EXPECT_EQ(facts.of({eleven}), (std::vector<view::Process>{{11, std::nullopt, ""}}));
}

}  // namespace
}  // namespace cgpu::app
