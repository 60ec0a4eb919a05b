#include "core/limits/allowance.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/admission/admit.hpp"
#include "tests/unit/core/support/admissions.hpp"

namespace cgpu::limits {
namespace {

using namespace cgpu::test;
using model::Bytes;
using Reason = model::Refusal::Reason;

const Holder kAlice{Holder::Kind::user, 1000, "alice", {}};

model::Instance of_user(std::uint32_t user, const std::string& name, std::vector<model::Quota> quotas) {
    auto made = instance(name, std::move(quotas));
    made.owner.user = user;
    return made;
}

/// Alice has 4 GiB and weight 2 of GPU 0, and another user all that is asked for of it besides.
model::Node shared() {
    auto made = node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130)});
    EXPECT_TRUE(made.add_instance(of_user(1000, "train", {quota(0, 4096, 2)})));
    EXPECT_TRUE(made.add_instance(of_user(1001, "other", {quota(0, 4096, 10), quota(1, 8192, 4)})));
    return made;
}

std::string why_not(const model::Node& node, const Rule& rule, const std::vector<model::Quota>& quotas) {
    Rules rules;
    rules.users["alice"] = rule;
    const auto checked = Allowance(node, rules, kAlice).check_instance(quotas);
    if (checked) return {};
    const auto refusal = model::refuse("instance x", checked.error()).value();
    expect_well_formed(refusal);
    return refusal.text;
}

TEST(LimitAllowance, OfInstances) {
    Rule rule;
    rule.instances = 2;
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 1)}), "");
    rule.instances = 1;
    EXPECT_EQ(
        why_not(shared(), rule, {quota(0, 1)}),
        "instance x: alice may have 1 instance (limits.users.alice.instances), and has 1 instance: train "
        "(4GiB). Try: end one of these instances, or ask the administrator for more.");
    rule.instances = 0;
    EXPECT_NE(why_not(node({gpu(0, 16130)}), rule, {quota(0, 1)}).find("and has nothing yet"),
              std::string::npos);
    rule.instances = kUnlimited;
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 1)}), "");
}

TEST(LimitAllowance, OfMemory) {
    Rule rule;
    rule.memory_per_gpu = Bytes::from_gib(6);
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 2048)}), "");
    EXPECT_EQ(why_not(shared(), rule, {quota(1, 6144)}), "") << "on another GPU she has nothing";
    EXPECT_NE(why_not(shared(), rule, {quota(0, 2049)})
                  .find("2049MiB is asked for, and alice may have 6GiB of one GPU "
                        "(limits.users.alice.memory_per_gpu), of which 2GiB is left on it"),
              std::string::npos);
    rule = {};
    rule.memory = Bytes::from_gib(8);
    EXPECT_EQ(why_not(shared(), rule, {quota(1, 2048), quota(2, 2048)}), "");
    EXPECT_NE(why_not(shared(), rule, {quota(1, 2048), quota(2, 2049)}), "");
    rule.memory = kUnlimitedMemory;
    EXPECT_EQ(why_not(shared(), rule, {quota(1, 16130)}), "");
}

TEST(LimitAllowance, OfGpusCountsEachOnce) {
    Rule rule;
    rule.gpus = 2;
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 1), quota(1, 1)}), "");
    EXPECT_NE(why_not(shared(), rule, {quota(1, 1), quota(2, 1)})
                  .find("3 GPUs at once is asked for, and alice may have 2 GPUs"),
              std::string::npos);
    rule.gpus = 0;
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 1)}), "") << "on those that she is on already";
    EXPECT_NE(why_not(shared(), rule, {quota(1, 1)}), "");
}

TEST(LimitAllowance, OfComputeIsInSlicesOfEachGpu) {
    Rule rule;
    rule.compute = 25;  // 5 of 20
    EXPECT_EQ(why_not(shared(), rule, {quota(0, 1, 3)}), "");
    EXPECT_NE(why_not(shared(), rule, {quota(0, 1, 4)}), "");
    EXPECT_EQ(why_not(shared(), rule, {quota(1, 1, 5)}), "");
    rule.compute = 100;
    EXPECT_EQ(why_not(shared(), rule, {quota(2, 1, 20)}), "");
}

TEST(LimitAllowance, OfComputeSaysHowManySlicesAreLeft) {
    Rule rule;
    rule.compute = 25;  // 5 of 20, and she has 2
    EXPECT_NE(why_not(shared(), rule, {quota(0, 1, 4)}).find("Try: ask for weight 3 or less, or end one"),
              std::string::npos);
    rule.compute = 10;
    EXPECT_NE(why_not(shared(), rule, {quota(0, 1, 1)}).find("Try: end one of these instances, or ask"),
              std::string::npos)
        << "no weight is small enough";
}

TEST(LimitAllowance, OfComputeBelowASliceSaysSo) {
    auto made = node({gpu(0, 16130), gpu(1, 16130)});
    Rule rule;
    rule.compute = 4;  // a slice of 20 is 5%
    EXPECT_EQ(why_not(made, rule, {quota(1, 1, 1)}),
              "instance x: weight 1 is asked for, and alice may have 4% of a GPU's 20 slices "
              "(limits.users.alice.compute), which is less than one of them. Try: ask the administrator for "
              "5% or more.");
    ASSERT_TRUE(made.set_max_inst(uuid(0), 25));
    EXPECT_EQ(why_not(made, rule, {quota(0, 1, 1)}), "");
    EXPECT_NE(why_not(made, rule, {quota(1, 1, 1)}).find("Try: use GPU 0, which has more slices, or ask"),
              std::string::npos);
    EXPECT_EQ(why_not(made, rule, {quota(1, 1, 0)}), "") << "it computes nothing";
}

TEST(LimitAllowance, OfPriority) {
    Rule rule;
    rule.priority = false;
    auto high = quota(0, 1);
    EXPECT_EQ(why_not(shared(), rule, {high}), "");
    high.high_priority = true;
    EXPECT_NE(why_not(shared(), rule, {high}).find("may not have high priority"), std::string::npos);
    rule.priority = true;
    EXPECT_EQ(why_not(shared(), rule, {high}), "");
}

TEST(LimitAllowance, WhatIsToStartAndWhatWaitsCount) {
    const auto made = shared();
    Rules rules;
    rules.others.instances = 4;
    rules.others.gpus = 3;
    rules.others.memory = Bytes::from_gib(8);
    Allowance allowance(made, rules, kAlice);
    allowance.add("next one", {quota(1, 1024)});
    EXPECT_EQ(allowance.held().instances, (std::vector<std::string>{"train (4GiB)", "\"next one\" (1GiB)"}));
    EXPECT_TRUE(allowance.check_instance({quota(1, 3072)}));
    EXPECT_TRUE(allowance.check_instance({quota(2, 3072)}));
    allowance.keep_back({{uuid(77), Bytes::from_mib(2048), 1, false, false}});
    EXPECT_TRUE(allowance.check_instance({quota(1, 1024)}));
    EXPECT_EQ(allowance.check_instance({quota(1, 1025)}).error().text(),
              "1025MiB is asked for, and alice may have 8GiB in all (limits.default.memory), and has 2 "
              "instances: train (4GiB), \"next one\" (1GiB), and 1 request that asked before");
    EXPECT_FALSE(allowance.check_instance({quota(2, 1)})) << "the third GPU is another one's";
    allowance.keep_back({quota(1, 1)});
    EXPECT_FALSE(allowance.check_number());
}

TEST(LimitAllowance, PlacementGoesWhereTheLimitAllowsIt) {
    const auto made = shared();
    Rules rules;
    rules.users["alice"].gpus = 1;
    const Allowance allowance(made, rules, kAlice);
    admission::Defaults defaults;
    defaults.placement = admission::Placement::spread;
    EXPECT_EQ(grant_for(made, {{"CGPU_MEM", "1GiB"}}, defaults).quotas.at(0).gpu, uuid(2)) << "the emptiest";
    defaults.allowance = &allowance;
    EXPECT_EQ(grant_for(made, {{"CGPU_MEM", "1GiB"}}, defaults).quotas.at(0).gpu, uuid(0)) << "where she is";
    const auto refused = refusal_for(made, {{"CGPU_MEM", "12GiB"}}, defaults);
    EXPECT_NE(refused.text.find("limits.users.alice.gpus"), std::string::npos) << refused.text;
}

RC_GTEST_PROP(LimitAllowance, NobodyHasMoreThanARuleWhateverIsAskedFor, ()) {
    auto made = node({gpu(0, 16130), gpu(1, 16130)});
    Rules rules;
    Rule& rule = rules.users["alice"];
    rule.instances = *rc::gen::inRange(0U, 4U);
    rule.gpus = *rc::gen::inRange(1U, 3U);
    rule.memory = Bytes::from_mib(*rc::gen::inRange(0U, 12'000U));
    rule.memory_per_gpu = Bytes::from_mib(*rc::gen::inRange(0U, 8'000U));
    rule.compute = *rc::gen::inRange(1U, 101U);
    for (int i = 0; i < 12; ++i) {
        std::vector<model::Quota> quotas;
        const auto which = *rc::gen::inRange(1, 4);
        for (std::uint8_t at = 0; at < 2; ++at)
            if ((which & (1 << at)) != 0)
                quotas.push_back(quota(at, *rc::gen::inRange(1U, 6'000U), *rc::gen::inRange(0U, 8U)));
        const bool hers = *rc::gen::arbitrary<bool>();
        const auto wanted = of_user(hers ? 1000 : 1001, "i" + std::to_string(i), quotas);
        if (hers && !Allowance(made, rules, kAlice).check_instance(quotas)) continue;
        (void)made.add_instance(wanted);
    }
    const auto held = held_by(made, rules, kAlice);
    RC_ASSERT(held.instances.size() <= *rule.instances);
    RC_ASSERT(held.gpus.size() <= *rule.gpus);
    RC_ASSERT(held.memory() <= *rule.memory);
    for (const auto& [gpu, its] : held.gpus) {
        RC_ASSERT(its.memory <= *rule.memory_per_gpu);
        RC_ASSERT(its.weight * 100 <= *rule.compute * 20);
    }
}

}  // namespace
}  // namespace cgpu::limits
