#include "core/queue/could_fit.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/queue/queue_line.hpp"

namespace cgpu::queue {
namespace {

using namespace cgpu::test;

std::string why_never(const Line& line, const Waiting& waiting) {
    const auto fits = could_fit(line.node, waiting, line.defaults, line.allowance_of);
    if (fits) return {};
    expect_well_formed(fits.error());
    return fits.error().text;
}

TEST(CouldFit, WhateverIsThereNow) {
    Line line{node({gpu(0, 16130), gpu(1, 15109)})};
    line.run("a", 0, 16130);
    line.run("b", 1, 15109);
    EXPECT_EQ(why_never(line, waiting(16130)), "");
    EXPECT_EQ(why_never(line, waiting_for(1, 15109)), "");
    EXPECT_EQ(why_never(line, waiting({{"CGPU_MEM", "15GiB"}, {"CGPU_GPUS", "all"}})).find("15GiB on GPU 1"),
              0U);
    EXPECT_NE(why_never(line, waiting(16131)), "");
    EXPECT_NE(why_never(line, waiting_for(1, 16130)), "");
    EXPECT_NE(why_never(line, waiting_for(2, 1)), "");
}

TEST(CouldFit, DrainedGpusCountAndLostOnesDont) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    EXPECT_TRUE(line.node.set_drained(uuid(1), true));
    EXPECT_EQ(why_never(line, waiting_for(1, 1024)), "");
    EXPECT_TRUE(line.node.sync_gpus({gpu(0, 16130)}));
    EXPECT_NE(why_never(line, waiting_for(1, 1024)), "");
    EXPECT_EQ(why_never(line, waiting(1024)), "");
}

TEST(CouldFit, WithinTheLimitsOfAnOwnerWhoHasNothing) {
    Line line{v100()};
    line.run("hers", 0, 4096);
    limits::Rules rules;
    rules.others.memory = model::Bytes::from_gib(4);
    line.allowance_of = [&](const model::Node& node, const model::Owner& owner) {
        return tl::expected<std::optional<limits::Allowance>, model::Refusal>(limits::Allowance(
            node, rules, {limits::Holder::Kind::user, owner.user.value_or(0), "alice", {}}));
    };
    EXPECT_EQ(why_never(line, waiting(4096)), "") << "she has as much now, and that will end";
    EXPECT_NE(why_never(line, waiting(4097)).find("alice may have 4GiB in all (limits.default.memory)"),
              std::string::npos);
    line.allowance_of =
        [](const model::Node&,
           const model::Owner&) -> tl::expected<std::optional<limits::Allowance>, model::Refusal> {
        return model::refuse(model::Refusal::Reason::try_again, "alice", "nobody knows her", "wait a moment");
    };
    EXPECT_EQ(why_never(line, waiting(1)), "alice: nobody knows her. Try: wait a moment.");
}

}  // namespace
}  // namespace cgpu::queue
