#include "daemon/app/instances/base/process_facts.hpp"

#include <algorithm>

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

TEST(ProcessFacts, OfThousandsOnlySomeAreReadInASecondAndAllHaveTheirTurn) {
    FakeLoop loop;
    FakeProcesses processes(loop);
    std::vector<model::Process> all;
    for (std::int32_t pid = 1; pid <= 4000; ++pid) {
        processes.living.insert(pid);
        all.push_back(*processes.identify(pid));
    }
    // As the bus asks: instance by instance.
    ProcessFacts facts(loop, processes);
    const auto shown = [&] {
        std::vector<view::Process> sum;
        for (std::size_t at = 0; at < all.size(); at += 64)
            for (auto& each :
                 facts.of({all.begin() + static_cast<std::ptrdiff_t>(at),
                           all.begin() + static_cast<std::ptrdiff_t>(std::min(at + 64, all.size()))}))
                sum.push_back(std::move(each));
        return sum;
    };
    for (int seconds = 1; seconds <= 32; ++seconds) {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(shown().size(), 4000U);
        EXPECT_EQ(processes.asked_for_owners, std::min(seconds * ProcessFacts::kMostReads, 4000));
        loop.advance(kSecond);
    }
    EXPECT_TRUE(std::ranges::all_of(shown(), [](const auto& each) { return each.uid == 0U; }));
    processes.users = {{1, 7}, {4000, 8}};
    for (int seconds = 0; seconds < 64; ++seconds) {
        static_cast<void>(shown());
        loop.advance(kSecond);
    }
    EXPECT_EQ(shown().front().uid, 7U);
    EXPECT_EQ(shown().back().uid, 8U) << "it changed, and has its turn again";
}

TEST(ProcessFacts, AreForgottenWithTheProcess) {
    FakeLoop loop;
    FakeProcesses processes(loop);
    processes.living = {11};
    ProcessFacts facts(loop, processes);
    const auto first = *processes.identify(11);
    EXPECT_EQ(facts.of({first})[0].command, "job");
    processes.started = {{11, 99}};  // another one with its pid
    processes.commands = {{11, "other"}};
    EXPECT_EQ(facts.of({*processes.identify(11)})[0].command, "other");
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
