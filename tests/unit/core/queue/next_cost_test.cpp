#include <gtest/gtest.h>

#include "core/queue/next.hpp"
#include "tests/unit/core/queue/queue_line.hpp"

/// What a decision costs, counted by how often admission is asked: 16 GPUs with 25 instances each.
namespace cgpu::queue {
namespace {

using namespace cgpu::test;

/// A full node, of whose instances all have time limits, or every second one.
Line full(bool all) {
    std::vector<model::Sighting> gpus;
    for (std::uint8_t n = 0; n < 16; ++n) gpus.push_back(gpu(n, 16130, {.max_inst = 25}));
    Line line{node(gpus)};
    for (int n = 0; n < 400; ++n)
        line.run("i" + std::to_string(n), static_cast<std::uint8_t>(n % 16), 640,
                 all || n / 16 % 2 == 0 ? std::optional<Nanos>(1000 + n) : std::nullopt);
    return line;
}

TEST(QueueCost, AThousandAlikeAreAskedAboutOnce) {
    for (const int number : {100, 1000}) {
        Line line = full(false);
        for (int n = 0; n < number; ++n) {
            auto made = waiting(640, std::nullopt, 1000U + static_cast<std::uint32_t>(n % 12));
            made.request.container_name = "job" + std::to_string(n);  // a name makes no difference
            line.queue.add(made);
        }
        auto decision = line.next();
        EXPECT_EQ(decision.waits.size(), static_cast<std::size_t>(number));
        EXPECT_EQ(decision.shapes, 1U);
        EXPECT_LE(decision.plans, 9U) << "a place for each of the first, and where that of the next would be";
        line.end("i5");
        decision = line.next();
        EXPECT_EQ(started(decision), Tickets{1});
        EXPECT_LE(decision.plans, 10U);
        EXPECT_FALSE(decision.more);
    }
}

TEST(QueueCost, AThousandDifferentOnesComeToTheBounds) {
    for (const int number : {500, 1000}) {
        Line line = full(true);
        for (int n = 0; n < number; ++n)
            line.queue.add(waiting(640 + static_cast<std::uint64_t>(n), 100 + n,
                                   1000U + static_cast<std::uint32_t>(n % 12)));
        line.end("i5");
        const auto decision = line.next();
        EXPECT_EQ(started(decision), Tickets{1});
        EXPECT_EQ(decision.shapes, line.bounds.shapes);
        EXPECT_LE(decision.plans, line.bounds.plans);
        EXPECT_TRUE(decision.more);
        EXPECT_EQ(decision.waits.size() + 1, static_cast<std::size_t>(number));
    }
}

TEST(QueueCost, WhoeverIsHeldBackByLimitsCostsOneLook) {
    Line line = full(false);
    line.end("i5");
    line.allowance_of = [](const model::Node& node, const model::Owner& owner) {
        limits::Rules rules;
        rules.users["1000"].instances = 1;
        return tl::expected<std::optional<limits::Allowance>, model::Refusal>(
            limits::Allowance(node, rules, {limits::Holder::Kind::user, owner.user.value_or(0), "", {}}));
    };
    for (std::uint64_t n = 0; n < 1000; ++n) line.queue.add(waiting(100 + n, std::nullopt, 1000));
    line.queue.add(waiting(640, std::nullopt, 1001));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{1001}) << "one owner's flood holds up nobody";
    EXPECT_LE(decision.shapes, 2U);
    EXPECT_EQ(decision.plans, 2U);
}

TEST(QueueCost, ManyStartsTakeSeveralDecisions) {
    Line line = full(false);
    line.node = cleared(line.node);
    for (int n = 0; n < 400; ++n) line.queue.add(waiting(640));
    std::size_t starts = 0;
    for (int decisions = 0; decisions < 8; ++decisions) {
        const auto decision = line.next();
        EXPECT_LE(decision.plans, line.bounds.plans);
        for (const auto& [ticket, grant] : decision.starts) {
            EXPECT_TRUE(line.node.add_instance(instance("r" + std::to_string(ticket), grant.quotas)));
            line.queue.remove(ticket);
            EXPECT_EQ(ticket, ++starts);
        }
    }
    EXPECT_EQ(starts, 400U);
    EXPECT_FALSE(line.next().more);
}

}  // namespace
}  // namespace cgpu::queue
