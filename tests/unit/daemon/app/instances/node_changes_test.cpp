#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

/// A V100 with two instances of 4 GiB, with 10 of 20 slices each.
class NodeChangesTest : public ServiceTest {
  protected:
    void SetUp() override {
        see_v100();
        ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 20}, {}));
        for (const std::string id : {"aaaa", "bbbb"}) {
            ASSERT_TRUE(create(id, "4"));
            ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id, .weight = 10}, {}));
        }
        store.saves = 0;
        publisher.said.clear();
        links.refreshed.clear();
    }
    Result<std::uint64_t> apply(const std::vector<NodeChange>& changes, Options options = {}) {
        return service->changes().apply(changes, options);
    }
    const model::Quota& quota(const std::string& id) {
        return service->node().find_instance(*model::InstanceId::parse(id))->quotas.at(0);
    }
    void expect_refused(const Result<std::uint64_t>& result, Refusal::Reason reason,
                        const std::string& text) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().reason, reason) << result.error().text;
        EXPECT_TRUE(result.error().text.starts_with(text)) << result.error().text;
        EXPECT_EQ(store.saves, 0);
        EXPECT_TRUE(publisher.said.empty());
        EXPECT_EQ(quota("aaaa").weight, 10U);
    }
};

TEST_F(NodeChangesTest, reverts_are_changes_as_the_others) {
    const auto admitted = quota("aaaa").memory_limit;
    ASSERT_TRUE(apply({GpuChange{.gpu = "0", .policy = "fixed", .prio_ratio = 90},
                       QuotaChange{.instance = "aaaa", .memory_limit = model::Bytes(kMib)}}));
    store.saves = 0;
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .revert = true}, GpuChange{.gpu = "0", .revert = true},
                       QuotaChange{.instance = "bbbb", .gpu = "0", .revert = true}}));
    EXPECT_EQ(store.saves, 1);
    const auto& settings = service->node().find_gpu(v100)->settings;
    EXPECT_EQ(settings, model::GpuSettings{}) << "what the configuration of these tests says";
    for (const char* id : {"aaaa", "bbbb"}) {
        EXPECT_EQ(quota(id).memory_limit, admitted) << id;
        EXPECT_FALSE(quota(id).admitted) << id;
    }
}

TEST_F(NodeChangesTest, with_the_right_to_ones_own_nobody_gets_more) {
    caller.user = processes.users[100] = 1000;
    ASSERT_TRUE(create("cccc", "1"));
    store.saves = 0;
    publisher.said.clear();
    const Options own{.only_lowered_of = 1000};
    const auto may = [&](const QuotaChange& change) { return lowers_own(service->node(), change, 1000); };
    const QuotaChange less{.instance = "cccc", .memory_limit = model::Bytes(kMib)};
    const QuotaChange more{.instance = "cccc", .memory_limit = model::Bytes(4096 * kMib)};
    const QuotaChange high{.instance = "cccc", .high_priority = true};
    const QuotaChange others{.instance = "aaaa", .memory_limit = model::Bytes(kMib)};
    EXPECT_TRUE(may(less));
    EXPECT_TRUE(may({.instance = "cccc", .weight = 0}));
    EXPECT_TRUE(may({.instance = "cccc", .paused = true}));
    EXPECT_FALSE(may(more));
    EXPECT_FALSE(may(high));
    EXPECT_FALSE(may(others));
    EXPECT_FALSE(may({.instance = "cccc", .revert = true}));
    EXPECT_FALSE(may({.instance = "none", .weight = 1}));
    // The node may have changed since it was judged.
    for (const auto& change : {more, high, others})
        expect_refused(apply({change}, own), Refusal::Reason::not_permitted, "instance ");
    expect_refused(apply({less, others}, own), Refusal::Reason::not_permitted, "instance ");
    EXPECT_TRUE(apply({less}, own));
    EXPECT_EQ(quota("cccc").memory_limit.count(), kMib);
    EXPECT_TRUE(apply({{QuotaChange{.instance = "cccc", .paused = true}}}, own));
    EXPECT_TRUE(apply({{QuotaChange{.instance = "cccc", .paused = false}}}, own));
}

TEST_F(NodeChangesTest, a_revert_has_no_other_settings_and_no_options_that_it_cannot_have) {
    using Reason = Refusal::Reason;
    expect_refused(apply({GpuChange{.gpu = "0", .policy = "fixed", .revert = true}}), Reason::invalid,
                   "change 1: the policy of GPU 0");
    expect_refused(apply({GpuChange{.gpu = "0", .revert = true}, GpuChange{.gpu = "0", .max_inst = 20}}),
                   Reason::invalid, "change 2: max_inst of GPU 0");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .weight = 2, .revert = true}}), Reason::invalid,
                   "change 1: revert of instance");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .revert = true},
                          QuotaChange{.instance = "aaaa", .weight = 2}}),
                   Reason::invalid, "change 2: the weight of instance");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .revert = true}}, {.persist = true}),
                   Reason::invalid, "change 1: revert of instance");
    expect_refused(apply({GpuChange{.gpu = "0", .revert = true}}, {.runtime = true}), Reason::invalid,
                   "change 1: revert of GPU 0");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .gpu = "7", .revert = true}}), Reason::not_found,
                   "change 1: ");
    EXPECT_TRUE(
        apply({GpuChange{.gpu = "0", .prio_ratio = 90}, QuotaChange{.instance = "aaaa", .revert = true}},
              {.runtime = true}));
}

TEST_F(NodeChangesTest, gpus_and_instances_change_with_one_save) {
    const auto before = service->node().generation();
    const auto done =
        apply({QuotaChange{.instance = "job-aaaa", .weight = 15, .high_priority = true},
               QuotaChange{.instance = "bbbb", .gpu = "0", .memory_limit = model::Bytes(kMib), .weight = 5},
               GpuChange{.gpu = "0", .policy = "weighted", .prio_ratio = 90}});
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_GT(*done, before);
    EXPECT_EQ(*done, service->node().generation());
    EXPECT_EQ(store.saves, 1);
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(quota("aaaa").weight, 15U);
    EXPECT_TRUE(quota("aaaa").high_priority);
    EXPECT_EQ(quota("bbbb").weight, 5U);
    EXPECT_EQ(quota("bbbb").memory_limit.count(), kMib);
    EXPECT_EQ(service->node().find_gpu(v100)->settings.policy, model::Policy::weighted);
    EXPECT_EQ(service->node().find_gpu(v100)->settings.prio_ratio, 90U);
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"changed aaaa", "changed bbbb", "gpus"}));
    EXPECT_EQ(links.refreshed.size(), 2U) << "the modules learn of a new limit";
}

TEST_F(NodeChangesTest, one_that_is_refused_refuses_all_and_is_named) {
    expect_refused(
        apply({QuotaChange{.instance = "aaaa", .weight = 5}, QuotaChange{.instance = "bbbb", .weight = 16}}),
        Refusal::Reason::no_space, "change 2: weight 16 for instance bbbb");
    expect_refused(
        apply({QuotaChange{.instance = "aaaa", .weight = 5}, GpuChange{.gpu = "7", .max_inst = 5}}),
        Refusal::Reason::not_found, "change 2: GPU \"7\"");
    expect_refused(apply({QuotaChange{.instance = "cccc", .weight = 5}}), Refusal::Reason::not_found,
                   "change 1: ");
    expect_refused(apply({GpuChange{.gpu = "0", .policy = "best"}}), Refusal::Reason::invalid,
                   "change 1: policy \"best\"");
    expect_refused(apply({GpuChange{.gpu = "0"}}), Refusal::Reason::invalid,
                   "change 1: settings: it has none");
    expect_refused(apply({QuotaChange{.instance = "aaaa"}}), Refusal::Reason::invalid, "change 1: settings");
    expect_refused(apply(std::vector<NodeChange>(NodeChanges::kMost + 1, GpuChange{.gpu = "0"})),
                   Refusal::Reason::invalid, "changes: there are 257");
}

TEST_F(NodeChangesTest, a_percentage_is_set_with_others_and_not_kept) {
    expect_refused(apply({QuotaChange{.instance = "aaaa", .percent = 25}}, {.persist = true}),
                   Refusal::Reason::invalid, "change 1: 25% of instance");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .weight = 5, .percent = 25}}),
                   Refusal::Reason::invalid, "change 1: the weight of instance");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .percent = 25, .revert = true}}),
                   Refusal::Reason::invalid, "change 1: revert of instance");
    const auto done = apply(
        {QuotaChange{.instance = "aaaa", .percent = 25}, QuotaChange{.instance = "bbbb", .weight = 15}});
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(quota("aaaa").percent, 25U);
    EXPECT_EQ(quota("aaaa").weight, 5U);
    EXPECT_EQ(quota("bbbb").weight, 15U);
}

TEST_F(NodeChangesTest, a_weight_of_zero_pauses_and_any_other_resumes) {
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .weight = 0}}));
    EXPECT_TRUE(quota("aaaa").paused);
    EXPECT_EQ(quota("aaaa").weight, 10U) << "it is kept";
    EXPECT_FALSE(quota("aaaa").admitted.has_value() && quota("aaaa").admitted->weight == 0U);
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"changed aaaa", "gpus"}));
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .weight = 5}}));
    EXPECT_FALSE(quota("aaaa").paused);
    EXPECT_EQ(quota("aaaa").weight, 5U);
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .paused = true}}));
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .weight = 4, .paused = true}}));
    EXPECT_TRUE(quota("aaaa").paused) << "unless the change says something else";
    EXPECT_EQ(quota("aaaa").weight, 4U);
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .percent = 25}}));
    EXPECT_FALSE(quota("aaaa").paused);
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .paused = true}}));
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .revert = true}}));
    EXPECT_TRUE(quota("aaaa").paused) << "a revert takes back figures";
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .paused = false}}));
    EXPECT_FALSE(store.saved.find_instance(*model::InstanceId::parse("aaaa"))->quotas[0].paused);
}

TEST_F(NodeChangesTest, a_pause_is_not_kept_and_not_set_twice) {
    expect_refused(apply({QuotaChange{.instance = "aaaa", .paused = true}}, {.persist = true}),
                   Refusal::Reason::invalid, "change 1: pausing instance aaaa");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .weight = 0}}, {.persist = true}),
                   Refusal::Reason::invalid, "change 1: pausing instance aaaa");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .paused = true},
                          QuotaChange{.instance = "aaaa", .weight = 5}}),
                   Refusal::Reason::invalid, "change 2: the pause of instance aaaa");
    expect_refused(apply({QuotaChange{.instance = "aaaa", .paused = true, .revert = true}}),
                   Refusal::Reason::invalid, "change 1: revert of instance aaaa");
    ASSERT_TRUE(apply({GpuChange{.gpu = "0", .policy = "native"}}));
    store.saves = 0;
    publisher.said.clear();
    expect_refused(apply({QuotaChange{.instance = "aaaa", .paused = true}}), Refusal::Reason::unsupported,
                   "change 1: pausing instance aaaa");
    EXPECT_TRUE(apply(
        {QuotaChange{.instance = "aaaa", .paused = true}, GpuChange{.gpu = "0", .policy = "proportional"}}))
        << "only the result is judged";
}

TEST_F(NodeChangesTest, gpus_are_drained_until_they_are_not) {
    ASSERT_TRUE(apply({GpuChange{.gpu = "0", .drained = true}}));
    EXPECT_TRUE(store.saved.find_gpu(v100)->drained);
    EXPECT_EQ(publisher.said, std::vector<std::string>{"gpus"});
    EXPECT_EQ(service->node().occupants_of(v100).size(), 2U);
    const auto refused = create("cccc", "1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    ASSERT_TRUE(apply({GpuChange{.gpu = "0", .revert = true}}));
    EXPECT_TRUE(service->node().find_gpu(v100)->drained) << "it is no setting of the configuration";
    const auto for_now = apply({GpuChange{.gpu = "0", .drained = false}}, {.runtime = true});
    ASSERT_FALSE(for_now);
    EXPECT_EQ(for_now.error().reason, Refusal::Reason::invalid);
    const auto twice =
        apply({GpuChange{.gpu = "0", .drained = false}, GpuChange{.gpu = "0", .drained = true}});
    ASSERT_FALSE(twice);
    EXPECT_TRUE(twice.error().text.starts_with("change 2: whether GPU 0")) << twice.error().text;
    ASSERT_TRUE(apply({GpuChange{.gpu = "0", .drained = false}}));
    EXPECT_TRUE(create("cccc", "1"));
}

TEST_F(NodeChangesTest, no_two_changes_set_the_same) {
    expect_refused(
        apply({QuotaChange{.instance = "aaaa", .weight = 5}, GpuChange{.gpu = "0", .policy = "fixed"},
               QuotaChange{.instance = "job-aaaa", .gpu = v100.to_string(), .weight = 6}}),
        Refusal::Reason::invalid, "change 3: the weight of instance aaaa (job-aaaa) on GPU 0");
    EXPECT_TRUE(apply({QuotaChange{.instance = "aaaa", .weight = 5},
                       QuotaChange{.instance = "aaaa", .high_priority = true}}));
}

TEST_F(NodeChangesTest, nothing_is_changed_by_a_dry_run_or_by_what_is_there_already) {
    const auto before = service->node();
    EXPECT_EQ(apply({QuotaChange{.instance = "aaaa", .weight = 5}}, {.dry_run = true}), before.generation());
    EXPECT_EQ(apply({QuotaChange{.instance = "aaaa", .weight = 10}}), before.generation());
    EXPECT_EQ(apply({}), before.generation());
    EXPECT_FALSE(apply({QuotaChange{.instance = "aaaa", .weight = 11}}, {.dry_run = true}));
    EXPECT_EQ(service->node(), before);
    EXPECT_EQ(store.saves, 0);
    EXPECT_TRUE(publisher.said.empty());
}

TEST_F(NodeChangesTest, a_node_that_has_changed_since_is_not_changed_again) {
    const auto seen = service->node().generation();
    ASSERT_TRUE(apply({QuotaChange{.instance = "bbbb", .weight = 9}}, {.if_generation = seen}));
    store.saves = 0;
    publisher.said.clear();
    expect_refused(apply({QuotaChange{.instance = "aaaa", .weight = 9}}, {.if_generation = seen}),
                   Refusal::Reason::changed, "generation " + std::to_string(seen) + ": the node has changed");
    const auto one = service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "soft"},
                                             {.if_generation = seen});
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().reason, Refusal::Reason::changed);
}

TEST_F(NodeChangesTest, persist_keeps_the_settings_of_instances) {
    ASSERT_TRUE(apply({QuotaChange{.instance = "aaaa", .weight = 4, .high_priority = true},
                       GpuChange{.gpu = "0", .policy = "fixed"}},
                      {.persist = true}));
    ASSERT_EQ(store.saved.kept().size(), 1U);
    EXPECT_EQ(store.saved.kept().begin()->second, (model::KeptFigures{std::nullopt, 4U, true}));
    EXPECT_EQ(store.saves, 1);
}

TEST_F(NodeChangesTest, memory_in_use_is_taken_by_force_only) {
    usage.used = 100 * kMib;
    const QuotaChange less{.instance = "aaaa", .memory_limit = model::Bytes(50 * kMib)};
    expect_refused(apply({less}), Refusal::Reason::busy, "change 1: memory limit 50MiB");
    EXPECT_TRUE(apply({less}, {.force = true}));
}

TEST_F(NodeChangesTest, a_state_that_can_not_be_saved_is_not_in_force) {
    store.full = true;
    expect_refused(apply({QuotaChange{.instance = "aaaa", .weight = 5}}), Refusal::Reason::storage,
                   "state.json");
}

}  // namespace
}  // namespace cgpu::app::test
