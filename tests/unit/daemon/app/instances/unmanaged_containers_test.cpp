#include "daemon/app/instances/unmanaged_containers.hpp"

#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

/// The driver shows these figures of the one GPU.
struct FakeGpus final : Gpus {
    void list(std::function<void(Result<model::SeenGpus>)>) override {}
    void processes(const model::Uuid&, std::function<void(Result<DriverFigures>)> call) override {
        ++looks;
        call(DriverFigures{figures});
    }
    std::vector<DriverProcess> figures;
    int looks = 0;
};

class UnmanagedTest : public ServiceTest {
  protected:
    UnmanagedTest() {
        see_v100();
        processes.living.insert(100);
    }
    Result<bool> admit(const std::string& id, const std::vector<std::string>& named = {}) {
        return containers.admit(id, "web", named, caller, {});
    }
    bool attach_to(const std::string& id, std::int32_t pid) {
        processes.living.insert(pid);
        return containers.attach(id, *processes.identify(pid), caller);
    }
    static constexpr const char* kId = "0123456789abcdef";
    FakeGpus gpus;
    UnmanagedContainers containers{
        {loop, publisher, links, processes, gpus, *service, events, [] { return 42u; }}};
};

TEST_F(UnmanagedTest, NobodyTakesOverAnothersContainer) {
    ASSERT_TRUE(admit(kId));
    ASSERT_TRUE(attach_to(kId, 200));
    auto other = caller;
    other.user = 1000;
    const auto refused = containers.admit(kId, "mine", {}, other, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, model::Refusal::Reason::exists);
    EXPECT_EQ(containers.all().begin()->second.name, "web");
    EXPECT_TRUE(containers.all().begin()->second.attached);
    EXPECT_TRUE(admit(kId)) << "its owner may";
}

TEST_F(UnmanagedTest, AUserTakesNoMoreThanItsPlacesAndNoEndlessName) {
    auto other = caller;
    other.user = 1000;
    const auto admit_number = [&](int number, const std::string& name, const Caller& by) {
        return containers.admit("id-" + std::to_string(number), name, {}, by, {});
    };
    for (int i = 0; i < UnmanagedContainers::kMostOfAUser; ++i) ASSERT_TRUE(admit_number(i, "web", other));
    const auto refused = admit_number(2000, "web", other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, model::Refusal::Reason::no_space);
    EXPECT_TRUE(admit_number(3000, "web", caller)) << "root";
    const auto longer = admit_number(4000, std::string(kLongestName + 1, 'x'), caller);
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().reason, model::Refusal::Reason::invalid);
    EXPECT_TRUE(admit_number(4000, std::string(kLongestName, 'x'), caller));
}

TEST_F(UnmanagedTest, WhatOneHoldsIsNotFree) {
    EXPECT_FALSE(admit(kId, {"0"}).value());
    EXPECT_TRUE(service->node().instances().empty());
    ASSERT_TRUE(attach_to(kId, 200));
    gpus.figures = {{200, 3 * kMib + 1}, {200, 3 * kMib + 1}, {300, 500 * kMib}};
    loop.advance(3 * kSecond);
    const auto& container = containers.all().begin()->second;
    EXPECT_EQ(container.gpus, std::vector{v100});
    EXPECT_EQ(container.held.at(v100), 3 * kMib + 1) << "each process counts once, those of others don't";
    EXPECT_EQ(service->node().free_memory(v100).mib(), 16130U - 4U);
    const auto refused = create("fedcba9876543210", "15");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("(unmanaged containers hold 4MiB)"), std::string::npos)
        << refused.error().text;

    processes.kill(200);
    EXPECT_TRUE(containers.all().empty());
    EXPECT_EQ(service->node().free_memory(v100).mib(), 16130U);
    const int looks = gpus.looks;
    loop.advance(10 * kSecond);
    EXPECT_EQ(gpus.looks, looks) << "without containers the driver isn't asked";
}

TEST_F(UnmanagedTest, AProcessCountsOnceWhoeverNamesIt) {
    auto other = caller;
    other.user = 1000;
    processes.living.insert(200);
    processes.users[200] = 1000;
    const auto process = *processes.identify(200);
    for (const char* id : {"id-1", "id-2", "id-3"}) {
        ASSERT_TRUE(containers.admit(id, "web", {}, other, {}));
        ASSERT_TRUE(containers.attach(id, process, other));
    }
    gpus.figures = {{200, 271 * kMib}};
    loop.advance(3 * kSecond);
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 271U);
    std::uint64_t shown = 0;
    for (const auto& [id, container] : containers.all())
        for (const auto& [gpu, bytes] : container.held) shown += bytes;
    EXPECT_EQ(shown, 271 * kMib);
    // An engine's container has it, rather than what the user says of it.
    ASSERT_TRUE(admit(kId));
    ASSERT_TRUE(containers.attach(kId, process, caller));
    loop.advance(3 * kSecond);
    EXPECT_EQ(containers.all().at(*model::InstanceId::parse(kId)).held.at(v100), 271 * kMib);
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 271U);
}

TEST_F(UnmanagedTest, WhatBelongsToAnInstanceCountsThereOnly) {
    ASSERT_TRUE(create("fedcba9876543210", "4"));
    ASSERT_TRUE(admit(kId));
    ASSERT_TRUE(attach_to(kId, 200));
    links.members.emplace(*model::InstanceId::parse("fedcba9876543210"), *processes.identify(200));
    gpus.figures = {{200, 271 * kMib}};
    loop.advance(3 * kSecond);
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 0U);
    EXPECT_TRUE(containers.all().begin()->second.held.empty());
    links.members.clear();
    loop.advance(3 * kSecond);
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 271U);
}

TEST_F(UnmanagedTest, TakingInTheSameWithoutEndIsToldOfTogether) {
    auto other = caller;
    other.user = 1000;
    for (int each = 0; each < 1000; ++each) ASSERT_TRUE(containers.admit(kId, "web", {}, other, {}));
    EXPECT_EQ(recorded.of(EventType::container_unmanaged).size(),
              static_cast<std::size_t>(ComingAndGoing::kOfUser.at_once) + 1);
    ASSERT_TRUE(containers.admit("another", "web", {}, caller, {}));
    EXPECT_EQ(recorded.all.back().name, "web");
    EXPECT_EQ(recorded.all.back().by->user, 0U);
}

TEST_F(UnmanagedTest, IsReleasedByWhoMay) {
    auto other = caller;
    other.user = 1000;
    ASSERT_TRUE(containers.admit(kId, "web", {}, other, {}));
    EXPECT_TRUE(containers.has(kId));
    EXPECT_TRUE(containers.may_withdraw(kId, other));
    processes.living.insert(200);
    processes.users[200] = 1000;
    ASSERT_TRUE(containers.attach(kId, *processes.identify(200), other));
    gpus.figures = {{200, 271 * kMib}};
    loop.advance(3 * kSecond);
    EXPECT_FALSE(containers.may_withdraw(kId, other)) << "its memory would count as free";
    // What polkit was asked for was less than it takes now.
    other.own_only = true;
    const auto refused = containers.release(kId, other, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, model::Refusal::Reason::not_permitted);
    EXPECT_TRUE(containers.release(kId, caller, {.dry_run = true}));
    EXPECT_TRUE(containers.has(kId));
    EXPECT_TRUE(containers.release(kId, caller, {}));
    EXPECT_FALSE(containers.has(kId));
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 0U);
    EXPECT_TRUE(containers.release(kId, caller, {})) << "there is nothing to do";
}

TEST_F(UnmanagedTest, NobodyAttachesAProcessOfAnother) {
    auto other = caller;
    other.user = 1000;
    ASSERT_TRUE(containers.admit(kId, "web", {}, other, {}));
    processes.living.insert(200);
    processes.users[200] = 1001;
    processes.parents[200] = 100;
    EXPECT_FALSE(containers.attach(kId, *processes.identify(200), other));
    EXPECT_FALSE(containers.all().begin()->second.attached);
}

TEST_F(UnmanagedTest, OneThatNeverStartsIsForgotten) {
    ASSERT_TRUE(admit(kId));
    processes.kill(100);
    EXPECT_TRUE(containers.all().empty());
}

TEST_F(UnmanagedTest, WholeBooksTheCard) {
    containers.set_rule(admission::Unmanaged::whole);
    EXPECT_TRUE(admit(kId).value());
    ASSERT_EQ(service->node().instances().size(), 1U);
    EXPECT_EQ(service->node().free_memory(v100).mib(), 0U);
    EXPECT_FALSE(create("fedcba9876543210", "1"));
    ASSERT_TRUE(attach_to(kId, 200));
    gpus.figures = {{200, 100 * kMib}};
    loop.advance(3 * kSecond);
    EXPECT_EQ(service->node().held_unmanaged(v100).mib(), 0U) << "it is part of what is booked";
    const auto second = admit("fedcba9876543210");
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text.find("alone (unmanaged: whole), and 1 instance is there. Try: "),
              std::string::npos)
        << second.error().text;
}

TEST_F(UnmanagedTest, WholeIsRefusedBesideAnInstance) {
    ASSERT_TRUE(create("fedcba9876543210", "4"));
    containers.set_rule(admission::Unmanaged::whole);
    EXPECT_FALSE(admit(kId));
    EXPECT_TRUE(containers.all().empty());
    containers.set_rule(admission::Unmanaged::allow);
    EXPECT_TRUE(admit(kId));
}

TEST_F(UnmanagedTest, RefuseRefusesWithTheWayOut) {
    containers.set_rule(admission::Unmanaged::refuse);
    const auto refused = admit(kId);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text,
              "container 0123456789ab (\"web\"): it gets a GPU and asks for no part of one, which this node "
              "refuses "
              "(unmanaged: refuse). Try: CGPU_MEM=4GiB (a part of a GPU).");
}

TEST_F(UnmanagedTest, OnlyItsCreatorAttachesAProcess) {
    ASSERT_TRUE(admit(kId));
    processes.living.insert(200);
    EXPECT_FALSE(containers.attach(kId, *processes.identify(200), {1000, {200, 7, "boot"}}));
    EXPECT_FALSE(containers.attach("fedcba9876543210", *processes.identify(200), caller));
}

}  // namespace
}  // namespace cgpu::app::test
