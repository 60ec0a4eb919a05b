#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

TEST_F(ServiceTest, a_default_memory_that_was_set_wins_over_the_configuration) {
    see_v100();
    const auto of = [&](const char* id) {
        processes.living.insert(100);
        const auto made =
            service->create_instance({id, id, {{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, caller, {}});
        return made && !made->instance.quotas.empty() ? made->instance.quotas[0].memory_limit.mib() : 0;
    };
    EXPECT_EQ(of("aaaa"), 0U) << "the configuration has none, so it isn't managed";
    ASSERT_TRUE(service->set_default_memory(model::Bytes::from_mib(512), {.dry_run = true}));
    EXPECT_EQ(service->default_memory().mib(), 0U);
    ASSERT_TRUE(service->set_default_memory(model::Bytes::from_mib(512), {}));
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(publisher.said.back(), "default memory");
    EXPECT_EQ(of("bbbb"), 512U);
    Settings settings;
    settings.settings_for = [](const model::SeenGpu&) { return model::GpuSettings{}; };
    settings.defaults.default_memory = model::Bytes::from_mib(256);
    const auto told = publisher.said.size();
    service->set_settings(settings);
    EXPECT_EQ(publisher.said.size(), told) << "what is in force is the same";
    EXPECT_EQ(service->default_memory().mib(), 512U);
    ASSERT_TRUE(service->set_default_memory(std::nullopt, {}));
    EXPECT_EQ(publisher.said.back(), "default memory");
    EXPECT_EQ(of("cccc"), 256U);
    store.full = true;
    EXPECT_FALSE(service->set_default_memory(model::Bytes{}, {}));
    EXPECT_EQ(service->default_memory().mib(), 256U);
}

TEST_F(ServiceTest, the_usage_of_all_is_that_of_each) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    ASSERT_TRUE(create("bbbb", "2"));
    usage.used = 7 * kMib;
    const auto all = service->usage();
    ASSERT_EQ(all.gpus.size(), 1U);
    EXPECT_EQ(all.gpus.at(v100).memory_used, 14 * kMib);
    EXPECT_EQ(all.gpus.at(v100).memory_used, service->usage(v100).memory_used);
    ASSERT_EQ(all.instances.size(), 2U);
    for (const auto& [id, places] : all.instances) {
        EXPECT_EQ(places.at(v100).memory_used, 7 * kMib);
        EXPECT_EQ(places.at(v100).memory_limit, service->usage(id).at(v100).memory_limit);
    }
    // A GPU that isn't an instance's, and that its processes use.
    usage.foreign = {*model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000002")};
    EXPECT_EQ(service->usage().gpus.at(usage.foreign[0]).memory_used, 14 * kMib);
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

TEST_F(ServiceTest, who_may_touch_its_own_only_touches_nothing_of_others) {
    see_v100();
    const Caller root = caller;
    ASSERT_TRUE(create("roots", "4"));
    processes.living = {100, 101, 200, 201};
    processes.users = {{101, 1000}, {201, 1000}};
    processes.parents = {{200, 101}};
    caller = {1000, {101, 7, "boot"}, true};
    ASSERT_TRUE(create("own", "4"));
    EXPECT_FALSE(service->is_own("roots", caller));
    EXPECT_TRUE(service->is_own("own", caller));
    EXPECT_TRUE(service->is_own("nobodys", caller));
    EXPECT_TRUE(service->may_withdraw("own", caller));
    EXPECT_FALSE(service->may_withdraw("roots", caller));

    const auto reason_of = [](const Result<void>& done) {
        return done ? std::nullopt : std::optional(done.error().reason);
    };
    EXPECT_EQ(reason_of(attach("roots", 201)), Refusal::Reason::not_permitted);
    EXPECT_EQ(reason_of(attach("own", 200)), Refusal::Reason::not_permitted)
        << "root's, though a process of the caller started it";
    EXPECT_EQ(reason_of(service->release_instance("roots", caller, {})), Refusal::Reason::not_permitted);
    ASSERT_TRUE(attach("own", 201));
    EXPECT_FALSE(service->may_withdraw("own", caller));
    EXPECT_EQ(reason_of(service->release_instance("own", caller, {})), Refusal::Reason::not_permitted)
        << "its process would go on without a limit";
    EXPECT_EQ(service->node().instances().size(), 2u);
    EXPECT_TRUE(service->release_instance("own", root, {}));
}

TEST_F(ServiceTest, a_caller_that_ended_while_polkit_was_asked_gets_no_instance) {
    see_v100();
    processes.living = {100};
    processes.kill(100);
    const auto refused = service->create_instance({"aaaa", "x", {{"CGPU_MEM", "1GiB"}}, caller, {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::not_found);
    EXPECT_TRUE(service->node().instances().empty());
}

/// Why it was refused; `storage`, which these tests never cause, if it wasn't.
template <class T>
Refusal::Reason refused_as(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? Refusal::Reason::storage : result.error().reason;
}

TEST_F(ServiceTest, a_pid_that_is_used_again_while_polkit_was_asked_gets_nothing) {
    see_v100();
    ASSERT_TRUE(create("bbbb", "4"));
    processes.living.insert(200);
    const auto asked_for = service->identify(200);
    ASSERT_TRUE(asked_for);
    // Both pids are other processes' when the answer comes.
    processes.started = {{100, 8}, {200, 8}};
    const auto created = create("aaaa", "4");
    EXPECT_EQ(refused_as(created), Refusal::Reason::not_found);
    EXPECT_EQ(service->node().instances().size(), 1U);
    const auto attached = service->attach("bbbb", *asked_for, caller, {});
    EXPECT_EQ(refused_as(attached), Refusal::Reason::not_found);
    EXPECT_FALSE(service->node().instances().begin()->second.attached);
}

TEST_F(ServiceTest, a_caller_that_is_another_users_by_then_gets_nothing) {
    see_v100();
    caller.user = 1000;
    processes.users = {{100, 1000}, {200, 1000}};
    ASSERT_TRUE(create("bbbb", "4"));
    processes.living.insert(200);
    const auto asked_for = service->identify(200);
    ASSERT_TRUE(asked_for);
    // It has executed a set-uid program, for example: the process is the same.
    processes.users = {{100, 1001}, {200, 1001}};
    const auto created = create("aaaa", "4");
    ASSERT_EQ(refused_as(created), Refusal::Reason::not_permitted);
    EXPECT_NE(created.error().text.find("as user id 1000 and runs as another user now. Try: "),
              std::string::npos);
    EXPECT_EQ(service->node().instances().size(), 1U);
    EXPECT_EQ(refused_as(service->attach("bbbb", *asked_for, caller, {})), Refusal::Reason::not_permitted);
    EXPECT_FALSE(service->node().instances().begin()->second.attached);
}

TEST_F(ServiceTest, a_switched_mode_is_that_of_an_instance_that_asks_for_none) {
    see_v100();
    admission.switched = model::Mode::none;
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created);
    EXPECT_EQ(created->instance.mode, model::Mode::none);
}

TEST_F(ServiceTest, the_default_memory_of_a_node_that_has_none_is_not_managed) {
    see_v100();
    const auto before = service->node();
    processes.living.insert(100);
    const auto created =
        service->create_instance({"aaaa", "job", {{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}, caller, {}});
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

TEST_F(ServiceTest, a_closed_gate_refuses_new_instances_with_its_reason_and_hears_of_all_that_come_and_go) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    EXPECT_EQ(admission.changes, 1);
    admission.closed = true;
    for (const bool dry_run : {true, false}) {
        const auto refused = create("bbbb", "4", dry_run);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().text, "new instances: the gate is closed. Try: later.");
    }
    EXPECT_EQ(service->node().instances().size(), 1u);
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    EXPECT_EQ(admission.changes, 2);
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
        service->create_instance({"part", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_COMPUTE", "25%"}}, caller, {}}));
    ASSERT_TRUE(
        service->create_instance({"number", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_WEIGHT", "5"}}, caller, {}}));
    const auto weight_of = [&](const char* id) {
        return service->node().find_instance(*model::InstanceId::parse(id))->quotas.at(0).weight;
    };
    publisher.said.clear();
    const auto refused = service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 22}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    EXPECT_NE(refused.error().text.find("25% of instance part (x)"), std::string::npos)
        << refused.error().text;
    EXPECT_FALSE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 22}, {.dry_run = true}));
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 24}, {.dry_run = true}));
    EXPECT_TRUE(publisher.said.empty());
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 24}, {}));
    EXPECT_EQ(weight_of("part"), 6U);
    EXPECT_EQ(weight_of("number"), 5U);
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"changed part", "gpus"}));
}

TEST_F(ServiceTest, reverts_a_gpu_to_what_is_configured_all_or_nothing) {
    see_v100();
    Settings configured;
    configured.settings_for = [](const model::SeenGpu&) {
        return model::GpuSettings{model::Policy::soft, 12, 70, model::Mode::memory_compute};
    };
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {}));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .max_inst = 20}, {}));
    service->set_settings(configured);
    EXPECT_EQ(service->node().find_gpu(v100)->settings.max_inst, 20U) << "it was set by hand";
    EXPECT_EQ(service->node().find_gpu(v100)->settings.prio_ratio, 70U);
    processes.living.insert(100);
    ASSERT_TRUE(
        service->create_instance({"big", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_WEIGHT", "15"}}, caller, {}}));
    const auto before = service->node();
    const auto refused = service->changes().make(GpuChange{.gpu = v100.to_string(), .revert = true}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy) << "15 slices aren't in 12";
    EXPECT_EQ(service->node(), before) << "the policy was not set either";

    ASSERT_TRUE(service->release_instance("big", caller, {}));
    publisher.said.clear();
    ASSERT_TRUE(
        service->changes().make(GpuChange{.gpu = v100.to_string(), .revert = true}, {.dry_run = true}));
    EXPECT_TRUE(publisher.said.empty());
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .revert = true}, {}));
    EXPECT_EQ(service->node().find_gpu(v100)->settings, configured.settings_for({}));
    EXPECT_EQ(store.saved, service->node());
    EXPECT_EQ(publisher.said, std::vector<std::string>{"gpus"});
}

TEST_F(ServiceTest, changes_nothing_in_a_dry_run) {
    see_v100();
    const auto before = service->node();
    const auto said = publisher.said;
    ASSERT_TRUE(create("aaaa", "4", true));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {true}));
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
    const auto policy = service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "2"}, {});
    ASSERT_FALSE(policy);
    EXPECT_EQ(policy.error().reason, Refusal::Reason::storage);
    EXPECT_FALSE(create("bbbb", "4"));
    EXPECT_EQ(service->node(), before);
    EXPECT_EQ(publisher.said, said);
    EXPECT_EQ(links.opened.size(), 1u);
}

TEST_F(ServiceTest, says_nothing_where_nothing_changes) {
    see_v100();
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "2"}, {}));
    const auto said = publisher.said.size();
    const auto saves = store.saves;
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = v100.to_string(), .policy = "weighted"}, {}));
    EXPECT_EQ(publisher.said.size(), said);
    EXPECT_EQ(store.saves, saves);
}

TEST_F(ServiceTest, less_memory_than_is_in_use_is_refused_with_the_figure) {
    see_v100();
    const auto created = create("aaaa", "4");
    ASSERT_TRUE(created);
    usage.used = 3000 * kMib;
    const auto refused = service->changes().make(
        QuotaChange{.instance = created->instance.id, .memory_limit = model::Bytes(2000 * kMib)}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    EXPECT_NE(refused.error().text.find("3000MiB"), std::string::npos) << refused.error().text;
    ASSERT_TRUE(service->changes().make(
        QuotaChange{.instance = created->instance.id, .gpu = "0", .memory_limit = model::Bytes(5000 * kMib)},
        {}));
    EXPECT_EQ(links.refreshed.size(), 1u);
    ASSERT_TRUE(service->changes().make(
        QuotaChange{.instance = created->instance.id, .gpu = "0", .memory_limit = model::Bytes(2000 * kMib)},
        {.force = true}));
    EXPECT_EQ(links.refreshed.size(), 2u);
}

TEST_F(ServiceTest, asks_for_nothing_is_refused_clearly) {
    see_v100();
    processes.living.insert(100);
    const auto refused = service->create_instance({"aaaa", "x", {}, caller, {}});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("Try: "), std::string::npos);
}

TEST_F(ServiceTest, its_own_mode_none_passes_no_rule_for_containers_without_a_limit) {
    see_v100();
    processes.living.insert(100);
    const std::map<std::string, std::string> whole_card = {{"CGPU_MEM", "1GiB"}, {"CGPU_MODE", "none"}};
    const auto create_under = [&](admission::Unmanaged rule, const char* id) {
        Settings settings;
        settings.settings_for = [](const model::SeenGpu&) { return model::GpuSettings{}; };
        settings.unmanaged = rule;
        service->set_settings(settings);
        return service->create_instance({id, "x", whole_card, caller, {}});
    };
    for (const auto rule : {admission::Unmanaged::refuse, admission::Unmanaged::whole}) {
        const auto refused = create_under(rule, "aaaa");
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().text.find("(unmanaged: " + std::string(to_string(rule)) +
                                            "). Try: leave out the mode"),
                  std::string::npos)
            << refused.error().text;
    }
    EXPECT_TRUE(create_under(admission::Unmanaged::allow, "aaaa"));
}

// Found as a typo that gave a container the whole card.
TEST_F(ServiceTest, a_variable_that_nobody_knows_is_refused_or_told) {
    see_v100();
    processes.living.insert(100);
    const std::map<std::string, std::string> typo = {{"CGPU_MEMORY", "1GiB"}};
    const auto refused = service->create_instance({"aaaa", "x", typo, caller, {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::invalid);
    EXPECT_NE(refused.error().text.find("Try: CGPU_MEM, or unknown_variables"), std::string::npos)
        << refused.error().text;
    service->set_settings(
        {{}, [](const model::SeenGpu&) { return model::GpuSettings{}; }, request::UnknownNames::warn});
    const auto told = service->create_instance({"aaaa", "x", typo, caller, {}});
    ASSERT_TRUE(told) << told.error().text;
    EXPECT_TRUE(told->instance.quotas.empty()) << "not managed";
    const auto managed =
        service->create_instance({"aaaa", "x", {{"CGPU_MEM", "1GiB"}, {"CGPU_WIEGHT", "2"}}, caller, {}});
    ASSERT_TRUE(managed) << managed.error().text;
    EXPECT_EQ(managed->instance.quotas.size(), 1U);
}

}  // namespace
}  // namespace cgpu::app::test
