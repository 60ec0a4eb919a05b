#include "daemon/app/events/events.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "daemon/app/events/doubted_reports.hpp"
#include "daemon/app/events/refused_admissions.hpp"
#include "daemon/app/events/refused_allocations.hpp"
#include "daemon/app/events/refused_calls.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

const model::Uuid kFirstGpu(model::Uuid::Raw{1});
constexpr std::uint64_t kMebibyte = 1 << 20;

std::uint64_t number(const Event& event, const std::string& detail) {
    return std::get<std::uint64_t>(event.details.at(detail));
}

model::Instance web() {
    return {.id = *model::InstanceId::parse("0123456789abcdef"), .name = "web", .quotas = {}, .attached = {}};
}

TEST(Events, every_type_has_a_name_and_a_message_id_of_its_own) {
    std::set<std::string_view> names;
    std::set<std::string_view> ids;
    for (const auto& kind : kEventKinds) {
        EXPECT_EQ(kind_of(kind.type).name, kind.name);
        EXPECT_EQ(kind.message_id.size(), 32U);
        EXPECT_EQ(kind.message_id.find_first_not_of("0123456789abcdef"), std::string_view::npos);
        names.insert(kind.name);
        ids.insert(kind.message_id);
    }
    EXPECT_EQ(names.size(), kEventKinds.size());
    EXPECT_EQ(ids.size(), kEventKinds.size());
}

TEST(Events, are_numbered_and_stamped_for_all_outlets) {
    RecordedEvents recorded;
    RecordedEvents other;
    recorded.events.add(other);
    recorded.events.happened({.type = EventType::daemon_started});
    recorded.events.happened({.type = EventType::daemon_stopped});
    EXPECT_EQ(recorded.all.size(), 2U);
    EXPECT_EQ(other.all.size(), 2U);
    EXPECT_EQ(other.last.number, 2U);
    EXPECT_EQ(other.last.time_us, 7U);
}

TEST(Events, names_and_indices_are_looked_up) {
    RecordedEvents recorded;
    model::Node node;
    model::SeenGpu gpu;
    gpu.uuid = kFirstGpu;
    gpu.index = 3;
    gpu.total = model::Bytes::from_mib(16130);
    ASSERT_TRUE(node.sync_gpus({{gpu, {}}}, {}));
    auto instance = web();
    instance.quotas.push_back({.gpu = kFirstGpu, .memory_limit = model::Bytes(kMebibyte)});
    ASSERT_TRUE(node.add_instance(instance));
    recorded.events.look_up_in([&node] { return &node; });
    Event event{.type = EventType::escape_found};
    event.instance = instance.id;
    event.gpu = kFirstGpu;
    recorded.events.happened(event);
    EXPECT_EQ(recorded.all.at(0).name, "web");
    EXPECT_EQ(recorded.all.at(0).gpu_index, 3U);
}

TEST(RefusedAllocations, say_what_was_asked_for_and_what_is_free) {
    FakeLoop loop;
    RecordedEvents recorded;
    RepeatedByUser repeated(loop, recorded.events);
    RefusedAllocations refused(repeated);
    refused.happened(web(), {kFirstGpu, 12, 700 * kMebibyte + 1, 3500 * kMebibyte, 4096 * kMebibyte, 1});
    ASSERT_EQ(recorded.all.size(), 1U);
    const auto& event = recorded.all[0];
    EXPECT_EQ(event.type, EventType::allocation_refused);
    EXPECT_EQ(event.message, "instance 0123456789ab: process 12: an allocation of 700.1MiB on GPU " +
                                 kFirstGpu.to_string() +
                                 " was refused (refusal 1): 3500MiB of its limit of 4096MiB are in use");
    EXPECT_EQ(event.name, "web");
    EXPECT_EQ(event.process, 12);
    EXPECT_EQ(number(event, "asked"), 700 * kMebibyte + 1);
    EXPECT_EQ(number(event, "free"), 596 * kMebibyte);
    EXPECT_EQ(number(event, "limit"), 4096 * kMebibyte);
}

TEST(DoubtedReports, name_the_process_and_do_not_flood) {
    FakeLoop loop;
    RecordedEvents recorded;
    DoubtedReports doubted(loop, recorded.events);
    for (int i = 0; i < 1000; ++i) {
        doubted.happened(web(), kFirstGpu, 12);
        loop.advance(kMilli);
    }
    ASSERT_FALSE(recorded.all.empty());
    EXPECT_LE(recorded.all.size(), 2U);
    const auto& event = recorded.all[0];
    EXPECT_EQ(event.type, EventType::report_doubted);
    EXPECT_EQ(event.process, 12);
    EXPECT_EQ(event.name, "web");
    EXPECT_EQ(event.gpu, kFirstGpu);
}

TEST(RefusedAllocations, a_program_that_tries_again_does_not_flood) {
    FakeLoop loop;
    RecordedEvents recorded;
    RepeatedByUser repeated(loop, recorded.events);
    RefusedAllocations refused(repeated);
    const model::Uuid other(model::Uuid::Raw{2});
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        refused.happened(web(), {kFirstGpu, 12, kMebibyte, kMebibyte, kMebibyte, i});
        loop.advance(kMilli);
    }
    EXPECT_EQ(recorded.all.size(), 2U);
    EXPECT_EQ(number(recorded.all[1], "count"), 999U);
    EXPECT_EQ(number(recorded.all[1], "refusals"), 1000U);
    refused.happened(web(), {other, 12, kMebibyte, kMebibyte, kMebibyte, 1});
    EXPECT_EQ(recorded.all.size(), 3U) << "another GPU is told of by itself";
}

// Whoever may run jobs can have one after the other, each with a first refusal.
TEST(RefusedAllocations, a_user_who_has_instance_after_instance_does_not_flood) {
    FakeLoop loop;
    RecordedEvents recorded;
    RepeatedByUser repeated(loop, recorded.events);
    auto instance = web();
    for (const std::uint32_t owner : {1000U, 0U}) {
        instance.creator = owner;
        for (std::uint64_t i = 0; i < 1000; ++i) {
            instance.id = *model::InstanceId::parse("0123456789abcde" + std::to_string(10000 + i));
            RefusedAllocations refused(repeated);
            refused.happened(instance, {kFirstGpu, 12, kMebibyte, kMebibyte, kMebibyte, 1});
            loop.advance(kMilli);
        }
        EXPECT_LE(recorded.all.size(), owner == 0 ? RepeatedByUser::kMostOfRoot + 2 : 7);
        loop.advance(1000 * kSecond);
        recorded.all.clear();
    }
}

model::Refusal refusal(model::Refusal::Reason reason) { return {reason, "4GiB: too much. Try: less."}; }

TEST(RefusedAdmissions, say_who_and_why) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedAdmissions refused(loop, recorded.events);
    refused.happened("0123456789abcdef", "web\n", {1000, 7}, refusal(model::Refusal::Reason::no_memory));
    ASSERT_EQ(recorded.all.size(), 1U);
    const auto& event = recorded.all[0];
    EXPECT_EQ(event.message,
              "instance 0123456789ab (\"web\\n\"): refused to user id 1000, process 7: 4GiB: too much. Try: "
              "less.");
    EXPECT_EQ(event.instance, *model::InstanceId::parse("0123456789abcdef"));
    EXPECT_EQ(event.by, (Who{1000, 7}));
    EXPECT_EQ(std::get<std::string>(event.details.at("reason")), "no_memory");
}

TEST(RefusedAdmissions, the_clients_try_again_by_themselves) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedAdmissions refused(loop, recorded.events);
    refused.happened("web", "", {0, 7}, refusal(model::Refusal::Reason::try_again));
    EXPECT_TRUE(recorded.all.empty());
}

TEST(RefusedAdmissions, no_user_floods_and_none_hides_another) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedAdmissions refused(loop, recorded.events);
    const auto busy = refusal(model::Refusal::Reason::busy);
    for (int i = 0; i < 1000; ++i) refused.happened("?", "", {1000, 7}, busy);
    EXPECT_EQ(recorded.all.size(), 1U);
    refused.happened("web", "", {1001, 8}, busy);
    EXPECT_EQ(recorded.all.size(), 2U);
    for (std::uint32_t user = 2000; user < 12000; ++user) refused.happened("web", "", {user, 8}, busy);
    EXPECT_EQ(recorded.all.size(), RepeatedByUser::kMostOfAll + 1) << "many users are told of together";
}

TEST(RefusedAdmissions, names_are_told_of_by_themselves_but_are_no_way_to_flood) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedAdmissions refused(loop, recorded.events);
    const auto busy = refusal(model::Refusal::Reason::busy);
    for (int i = 0; i < 20; ++i) refused.happened("id-" + std::to_string(i), "", {0, 7}, busy);
    EXPECT_EQ(recorded.all.size(), 20U) << "containers that Docker starts at the same time";
    recorded.all.clear();
    for (int i = 0; i < 1000; ++i) refused.happened("id", "name-" + std::to_string(i), {1000, 7}, busy);
    EXPECT_EQ(recorded.all.size(), RepeatedByUser::kMostOfUser + 1);
    loop.advance(Repeated::kFirstPause);
    EXPECT_EQ(number(recorded.all.back(), "count"), 1000U - RepeatedByUser::kMostOfUser - 1);
}

RefusedCall refused_call(const std::string& method, model::Refusal::Reason reason,
                         std::uint32_t user = 1000) {
    return {method, {user, 77}, refusal(reason)};
}

TEST(RefusedCalls, say_who_called_what_and_whether_it_was_denied) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedCalls refused(loop, recorded.events);
    refused.happened(refused_call("SetPolicy", model::Refusal::Reason::not_permitted));
    refused.happened(refused_call("SetPolicy", model::Refusal::Reason::invalid));
    refused.happened(refused_call("SetPolicy", model::Refusal::Reason::try_again));
    ASSERT_EQ(recorded.all.size(), 2U);
    EXPECT_EQ(recorded.all[0].type, EventType::call_denied);
    EXPECT_EQ(recorded.all[0].message,
              "SetPolicy: denied to user id 1000, process 77: 4GiB: too much. Try: less.");
    EXPECT_EQ(recorded.all[0].by, (Who{1000, 77}));
    EXPECT_EQ(std::get<std::string>(recorded.all[0].details.at("method")), "SetPolicy");
    EXPECT_EQ(recorded.all[1].type, EventType::change_refused);
    EXPECT_EQ(std::get<std::string>(recorded.all[1].details.at("reason")), "invalid");
}

TEST(RefusedCalls, no_user_floods_the_journal) {
    FakeLoop loop;
    RecordedEvents recorded;
    RefusedCalls refused(loop, recorded.events);
    for (int i = 0; i < 10'000; ++i) {
        for (const char* method : {"SetPolicy", "SetMaxInst", "SetWeight", "SetMemory", "Apply", "Forget"})
            refused.happened(refused_call(method, model::Refusal::Reason::not_permitted));
        loop.advance(kMilli);
    }
    // Ten seconds: four methods by themselves and the others together, each at 0, 1, 3 and 7 s.
    EXPECT_LE(recorded.all.size(), 5U * 4U);
    refused.happened(refused_call("SetPolicy", model::Refusal::Reason::not_permitted, 1001));
    EXPECT_EQ(recorded.all.back().by, (Who{1001, 77})) << "another user is told of at once";
}

}  // namespace
}  // namespace cgpu::app::test
