#include <gtest/gtest.h>

#include "core/queue/next.hpp"
#include "tests/unit/core/queue/queue_line.hpp"

/// Who waits because of its owner's limits.
namespace cgpu::queue {
namespace {

using namespace cgpu::test;
using limits::Holder;

/// The rules hold for everybody.
AllowanceOf everybody(const limits::Rule& rule) {
    return [rule](const model::Node& node, const model::Owner& owner) {
        limits::Rules rules;
        rules.others = rule;
        const auto user = owner.user.value_or(0);
        return tl::expected<std::optional<limits::Allowance>, model::Refusal>(
            limits::Allowance(node, rules, {Holder::Kind::user, user, user == kAlice ? "alice" : "bob", {}}));
    };
}

TEST(QueueLimits, WhoIsHeldBackByThemHoldsUpNobodyElse) {
    Line line{v100()};
    line.allowance_of = everybody({.instances = 1});
    line.run("hers", 0, 4096, std::nullopt, kAlice);
    line.queue.add(waiting(16130, std::nullopt, kAlice));
    line.queue.add(waiting(1024, std::nullopt, kAlice));
    line.queue.add(waiting(4096, std::nullopt, kBob));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{3}) << "though it takes what the first needs";
    const auto wait = wait_of(decision, 1);
    EXPECT_EQ(wait.why, Why::limits);
    EXPECT_EQ(wait.behind, std::nullopt);
    EXPECT_EQ(wait.limit->text(),
              "alice may have 1 instance (limits.default.instances), and has 1 instance: hers (4GiB)");
    EXPECT_EQ(wait_of(decision, 2).why, Why::limits);
    EXPECT_EQ(wait_of(decision, 2).behind, 1U);
}

TEST(QueueLimits, ThoseWhoStartCount) {
    Line line{v100()};
    line.allowance_of = everybody({.instances = 2});
    for (int n = 0; n < 3; ++n) line.queue.add(waiting(1024, std::nullopt, kAlice));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), (Tickets{1, 2}));
    EXPECT_EQ(wait_of(decision, 3).limit->text(),
              "alice may have 2 instances (limits.default.instances), and has 2 instances: request-1 (1GiB), "
              "request-2 (1GiB)");
}

TEST(QueueLimits, WhoWaitsForRoomIsNotPassedByTheSameOwnersLimits) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.allowance_of = everybody({.memory = model::Bytes::from_gib(10)});
    line.run("bobs", 0, 16130, std::nullopt, kBob);
    auto first = waiting_for(0, 8192);
    line.queue.add(first);
    line.queue.add(waiting_for(1, 4096));  // beside the first: 12 GiB
    line.queue.add(waiting_for(1, 2048));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{});
    EXPECT_EQ(wait_of(decision, 1).why, Why::room);
    EXPECT_EQ(wait_of(decision, 2).why, Why::limits);
    EXPECT_EQ(
        wait_of(decision, 2).limit->text(),
        "4GiB is asked for, and alice may have 10GiB in all (limits.default.memory), and has nothing yet, "
        "and 1 request that asked before");
    EXPECT_EQ(wait_of(decision, 3).behind, 2U);
    line.queue.remove(2);
    EXPECT_EQ(started(line.next()), Tickets{3});
}

TEST(QueueLimits, APlaceInTheForecastCountsOnItsGpu) {
    Line line{v100()};
    line.allowance_of = everybody({.memory_per_gpu = model::Bytes::from_gib(8)});
    line.run("bobs", 0, 14000, 200, kBob);
    line.queue.add(waiting(8192, std::nullopt, kAlice));
    line.queue.add(waiting(1024, std::nullopt, kAlice));
    line.queue.add(waiting(1024, std::nullopt, kBob));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 2).why, Why::limits);
    EXPECT_EQ(wait_of(decision, 3).why, Why::limits) << "he has more than that";
}

TEST(QueueLimits, NoClaimToGpusOnWhichItsOwnerMayHaveNoMore) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.allowance_of = everybody({.gpus = 1});
    line.run("hers", 0, 8192, std::nullopt, kAlice);
    line.run("bobs", 1, 8192, std::nullopt, kBob);
    line.queue.add(waiting(12288, std::nullopt, kAlice));
    line.queue.add(waiting(1024, std::nullopt, kBob));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).why, Why::room);
    EXPECT_EQ(wait_of(decision, 1).lacks->size(), 1U);
    EXPECT_EQ(started(decision), Tickets{2}) << "on GPU 1, where alice may have nothing";
    EXPECT_EQ(decision.starts.front().grant.quotas.front().gpu, uuid(1));
}

TEST(QueueLimits, GpusThatItsOwnerMayNotHaveTogether) {
    Line line{node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130)})};
    line.allowance_of = everybody({.gpus = 2});
    line.run("hers", 0, 16130, std::nullopt, kAlice);
    auto pair = waiting_on(2, 1024);
    line.queue.add(pair);
    line.queue.add(waiting(16130, std::nullopt, kBob));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).why, Why::limits) << "GPUs 1 and 2 have room, and hers would be the third";
    EXPECT_EQ(started(decision), Tickets{2});
}

TEST(QueueLimits, OwnersThatAreOneHolderCountTogether) {
    Line line{v100()};
    line.allowance_of = [](const model::Node& node, const model::Owner&) {
        limits::Rules rules;
        rules.others.instances = 1;
        return tl::expected<std::optional<limits::Allowance>, model::Refusal>(
            limits::Allowance(node, rules, {Holder::Kind::user, kAlice, "alice", {}}));
    };
    line.queue.add(waiting(1024));
    auto declared = waiting(1024);
    declared.owner = {std::nullopt, "alice"};
    line.queue.add(declared);
    EXPECT_EQ(started(line.next()), Tickets{1});
}

/// Bob, alice and bob again ask, and nobody knows which limits hold for alice.
Decision with_unknown_limits(model::Refusal::Reason reason) {
    Line line{v100()};
    line.allowance_of = [reason](const model::Node&, const model::Owner& owner)
        -> tl::expected<std::optional<limits::Allowance>, model::Refusal> {
        if (owner.user == kBob) return std::nullopt;
        return model::refuse(reason, "alice", "nobody knows her", "wait a moment");
    };
    line.queue.add(waiting(1024, std::nullopt, kBob));
    line.queue.add(waiting(1024, std::nullopt, kAlice));
    line.queue.add(waiting(1024, std::nullopt, kBob));
    return line.next();
}

TEST(QueueLimits, WhereNobodyKnowsTheRulesItWaits) {
    const auto decision = with_unknown_limits(model::Refusal::Reason::unsupported);
    EXPECT_EQ(started(decision), (Tickets{1, 3}));
    EXPECT_EQ(wait_of(decision, 2).why, Why::limits);
    EXPECT_EQ(wait_of(decision, 2).limit->why, "alice: nobody knows her. Try: wait a moment.");
}

TEST(QueueLimits, WhileTheRulesOfOneAreFoundOutNobodyPassesIt) {
    const auto decision = with_unknown_limits(model::Refusal::Reason::try_again);
    EXPECT_EQ(started(decision), Tickets{1});
    EXPECT_EQ(wait_of(decision, 2).why, Why::limits);
    EXPECT_EQ(wait_of(decision, 3).why, Why::turn);
    EXPECT_EQ(wait_of(decision, 3).behind, Ticket{2});
    EXPECT_FALSE(decision.more) << "it is looked at again when the answer is there";
}

}  // namespace
}  // namespace cgpu::queue
