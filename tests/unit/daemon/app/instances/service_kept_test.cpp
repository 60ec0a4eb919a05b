#include "tests/unit/daemon/app/instances/service_bed.hpp"

/// The settings kept by `persist`, over the life of instances.
namespace cgpu::app::test {
namespace {

using model::Refusal;

class ServiceKeptTest : public ServiceTest {
  protected:
    Result<Created> create_named(const std::string& id, const std::string& name, bool dry_run = false) {
        processes.living.insert(100);
        return service->create_instance({id, name, {{"CGPU_MEM", "4GiB"}}, caller, {.dry_run = dry_run}});
    }
    std::uint64_t limit_of(const std::string& id) {
        return service->node().find_instance(*model::InstanceId::parse(id))->quotas.at(0).memory_limit.mib();
    }
    Result<void> set_memory(const std::string& id, std::uint64_t mib, bool persist, bool dry_run = false) {
        return service->changes().make(QuotaChange{.instance = id, .memory_limit = model::Bytes(mib * kMib)},
                                       {.dry_run = dry_run, .persist = persist});
    }
};

TEST_F(ServiceKeptTest, the_next_start_has_it_and_without_persist_has_not) {
    see_v100();
    ASSERT_TRUE(create_named("aaaa", "web"));
    ASSERT_TRUE(set_memory("aaaa", 3000, false));
    EXPECT_TRUE(service->node().kept().empty());
    ASSERT_TRUE(set_memory("aaaa", 2000, true));
    EXPECT_EQ(limit_of("aaaa"), 2000u);
    ASSERT_TRUE(set_memory("aaaa", 3000, false)) << "until it ends";
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    const auto again = create_named("bbbb", "web");
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(limit_of("bbbb"), 2000u);
    ASSERT_EQ(again->warnings.size(), 1u);
    EXPECT_NE(again->warnings[0].find("memory limit 2000MiB"), std::string::npos) << again->warnings[0];
    EXPECT_EQ(store.saved, service->node());
}

TEST_F(ServiceKeptTest, what_is_there_already_is_kept_all_the_same) {
    see_v100();
    ASSERT_TRUE(create_named("aaaa", "web"));
    ASSERT_TRUE(set_memory("aaaa", 4096, true)) << "the same as it has";
    EXPECT_EQ(store.saved.kept().size(), 1u);
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = "aaaa", .weight = 4}, {.persist = true}));
    ASSERT_TRUE(
        service->changes().make(QuotaChange{.instance = "aaaa", .high_priority = true}, {.persist = true}));
    EXPECT_EQ(store.saved.kept().begin()->second,
              (model::KeptFigures{model::Bytes::from_mib(4096), 4u, true}));
}

TEST_F(ServiceKeptTest, another_users_instance_of_the_name_gets_what_it_asks_for) {
    see_v100();
    caller.user = 1000;
    processes.users[100] = 1000;
    ASSERT_TRUE(create_named("aaaa", "web"));
    ASSERT_TRUE(set_memory("aaaa", 2000, true));
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    caller.user = 1001;
    processes.users[100] = 1001;
    const auto other = create_named("bbbb", "web");
    ASSERT_TRUE(other);
    EXPECT_EQ(limit_of("bbbb"), 4096u);
    EXPECT_TRUE(other->warnings.empty());
    caller.user = 1000;
    processes.users[100] = 1000;
    ASSERT_TRUE(create_named("cccc", "web"));
    EXPECT_EQ(limit_of("cccc"), 2000u);
}

TEST_F(ServiceKeptTest, both_or_neither) {
    see_v100();
    ASSERT_TRUE(create_named("aaaa", ""));
    const auto before = service->node();
    const auto nameless = set_memory("aaaa", 2000, true);
    ASSERT_FALSE(nameless);
    EXPECT_EQ(nameless.error().reason, Refusal::Reason::unsupported);
    ASSERT_TRUE(create_named("bbbb", "web"));
    const auto saves = store.saves;
    EXPECT_FALSE(set_memory("bbbb", 20000, true)) << "more than the card has";
    EXPECT_TRUE(set_memory("bbbb", 2000, true, true)) << "a dry run";
    store.full = true;
    EXPECT_FALSE(set_memory("bbbb", 2000, true));
    store.full = false;
    EXPECT_EQ(store.saves, saves);
    EXPECT_EQ(limit_of("bbbb"), 4096u);
    EXPECT_TRUE(service->node().kept().empty());
}

TEST_F(ServiceKeptTest, what_does_not_fit_refuses_the_start_until_it_is_forgotten) {
    see_v100();
    ASSERT_TRUE(create_named("aaaa", "web"));
    ASSERT_TRUE(set_memory("aaaa", 10000, true));
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    ASSERT_TRUE(create("bbbb", "8"));
    for (const bool dry_run : {true, false}) {
        const auto refused = create_named("aaaa", "web", dry_run);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, Refusal::Reason::no_memory);
        EXPECT_NE(refused.error().text.find("cgpuctl forget \"web\""), std::string::npos)
            << refused.error().text;
    }
    ASSERT_TRUE(service->forget("web", std::nullopt, {.dry_run = true}));
    EXPECT_EQ(service->node().kept().size(), 1u);
    ASSERT_TRUE(service->forget("web", std::nullopt, {}));
    EXPECT_EQ(store.saved, service->node());
    EXPECT_TRUE(create_named("aaaa", "web"));
    const auto nothing = service->forget("web", std::nullopt, {});
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().reason, Refusal::Reason::not_found);
}

}  // namespace
}  // namespace cgpu::app::test
