#include "daemon/app/queue/admission_queue.hpp"

#include "tests/unit/daemon/app/queue/queue_bed.hpp"

namespace cgpu::app {
namespace {

using test::Names;
using test::QueueTest;

constexpr Nanos kMinute = 60 * kSecond;

TEST_F(QueueTest, StartsWhenThereIsRoom) {
    const auto first = ask("first", 12000);
    ASSERT_TRUE(runs(first));
    const auto second = ask("second", 8000);
    EXPECT_TRUE(waits(second));
    loop.advance(1);
    EXPECT_EQ(queued(), Names({"second"}));
    EXPECT_EQ(waits_for("second"), "GPU 0 has 4130MiB free, and 8000MiB are needed");
    EXPECT_EQ(publisher.said.back(), "added second");
    EXPECT_TRUE(queue_store.all.contains("second"));

    loop.advance(kMinute);
    end("first");
    ASSERT_TRUE(runs(second)) << refusal(second);
    EXPECT_EQ((*second->answer)->instance.quotas.front().memory_limit.mib(), 8000U);
    EXPECT_TRUE(queued().empty());
    EXPECT_TRUE(queue_store.all.empty());
    EXPECT_EQ(service->queue()->totals().started, 1U);
    EXPECT_GE(service->queue()->totals().waited, kMinute);
    const auto left = recorded.of(EventType::queue_left);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_NE(left[0].message.find("starts after it has waited 1m"), std::string::npos) << left[0].message;
    EXPECT_EQ(recorded.of(EventType::queue_entered).size(), 1U);
    EXPECT_TRUE(recorded.of(EventType::instance_refused).empty());
}

TEST_F(QueueTest, DoesntWaitWhereThereIsRoomOrWithoutTheVariable) {
    EXPECT_TRUE(runs(ask("first", 12000)));
    const auto refused = ask("second", 8000, "");
    EXPECT_NE(refusal(refused).find("is free"), std::string::npos) << refusal(refused);
    EXPECT_FALSE(waits(ask("third", 8000, "0")));
    EXPECT_TRUE(queued().empty());
}

TEST_F(QueueTest, WhatCanNeverFitIsRefusedAtOnce) {
    const auto never = ask("never", 20000);
    EXPECT_NE(refusal(never).find("the whole GPU has 16130MiB"), std::string::npos) << refusal(never);
    EXPECT_EQ(recorded.of(EventType::instance_refused).size(), 1U);
    EXPECT_TRUE(recorded.of(EventType::queue_entered).empty());
}

TEST_F(QueueTest, GivesUpAtItsDeadline) {
    ask("first", 12000);
    const auto second = ask("second", 8000, "30s");
    loop.advance(29 * kSecond);
    EXPECT_TRUE(waits(second));
    loop.advance(kSecond);
    EXPECT_NE(refusal(second).find("it has waited 30s in the queue, and still waits: GPU 0 has 4130MiB free"),
              std::string::npos)
        << refusal(second);
    EXPECT_EQ(second->answer->error().reason, model::Refusal::Reason::no_memory);
    EXPECT_TRUE(queued().empty());
    EXPECT_EQ(publisher.said.back(), "removed second");
    EXPECT_EQ(service->queue()->totals().left, 1U);
}

TEST_F(QueueTest, LeavesWithItsProcess) {
    ask("first", 12000);
    const auto second = ask("second", 8000);
    const auto third = ask("third", 10000);
    end("second");
    EXPECT_EQ(queued(), Names({"third"}));
    end("first");
    EXPECT_TRUE(runs(third));
    EXPECT_FALSE(runs(second));
}

TEST_F(QueueTest, NobodyPassesOneThatWaits) {
    ask("first", 12000);
    const auto second = ask("second", 8000);
    const auto impatient = ask("impatient", 2000, "");
    EXPECT_NE(refusal(impatient).find("(second) waits and comes first"), std::string::npos)
        << refusal(impatient);
    EXPECT_EQ(impatient->answer->error().reason, model::Refusal::Reason::busy);
    const auto third = ask("third", 2000);
    EXPECT_TRUE(waits(third));
    loop.advance(1);
    EXPECT_NE(waits_for("third").find("(second) comes first"), std::string::npos) << waits_for("third");
    end("first");
    EXPECT_TRUE(runs(second));
    EXPECT_TRUE(runs(third));
}

TEST_F(QueueTest, HighPriorityComesFirst) {
    ask("first", 16000);
    const auto second = ask("second", 16000);
    processes.living.insert(pid_of("third"));
    const auto third = std::make_shared<Call>(Call{"third", std::nullopt});
    repeat({"third",
            "third",
            {{"CGPU_MEM", "16000MiB"}, {"CGPU_PRIO", "high"}, {"CGPU_WAIT", "forever"}},
            {0, {pid_of("third"), 7, "boot"}},
            {},
            {}},
           third);
    EXPECT_EQ(queued(), Names({"third", "second"}));
    end("first");
    EXPECT_TRUE(runs(third));
    EXPECT_TRUE(waits(second));
}

TEST_F(QueueTest, WhereItIsFairWhoseOwnerHadLeastComesFirst) {
    ask("first", 16000);
    const auto of_1000 = ask("of-1000", 16000, "forever", 1000);
    const auto of_1001 = ask("of-1001", 16000, "forever", 1001);
    EXPECT_EQ(queued(), Names({"of-1000", "of-1001"}));
    recent[{1000, {}}] = 2;
    recent[{1001, {}}] = 1;
    fair = true;
    loop.advance(AdmissionQueue::kLookEvery);
    EXPECT_EQ(queued(), Names({"of-1001", "of-1000"}));
    end("first");
    EXPECT_TRUE(runs(of_1001));
    EXPECT_TRUE(waits(of_1000));
}

TEST_F(QueueTest, AGateThatIsClosedIsWaitedFor) {
    admission.closed = true;
    const auto first = ask("first", 1000);
    EXPECT_TRUE(waits(first));
    loop.advance(kMinute);
    EXPECT_EQ(waits_for("first"), "new instances: the gate is closed");
    admission.closed = false;
    loop.advance(AdmissionQueue::kLookEvery);
    EXPECT_TRUE(runs(first));
}

TEST_F(QueueTest, ItsOwnerOrRootTakesItOut) {
    ask("first", 12000, "", 1000);
    const auto second = ask("second", 8000, "forever", 1000);
    EXPECT_TRUE(service->may_withdraw("second", {1000, {2, 7, "boot"}}));
    EXPECT_FALSE(service->may_withdraw("second", {1001, {2, 7, "boot"}}));
    ASSERT_TRUE(service->release_instance("second", {0, {1, 7, "boot"}}, {.dry_run = true}));
    EXPECT_TRUE(waits(second));
    ASSERT_TRUE(service->release_instance("second", {0, {1, 7, "boot"}}, {}));
    EXPECT_NE(refusal(second).find("user id 0 has taken it from the queue"), std::string::npos)
        << refusal(second);
    EXPECT_TRUE(queued().empty());
}

TEST_F(QueueTest, AnIdThatWaitsIsTaken) {
    ask("first", 12000);
    const auto second = ask("second", 8000);
    processes.living.insert(77);
    const auto other = std::make_shared<Call>(Call{"second", std::nullopt});
    repeat({"second", "other", {{"CGPU_MEM", "100MiB"}}, {0, {77, 7, "boot"}}, {}, {}}, other);
    EXPECT_EQ(other->answer->error().reason, model::Refusal::Reason::exists);
    EXPECT_TRUE(waits(second));
    EXPECT_EQ(service->find_instance("second", {0})->str(), "second");
    EXPECT_EQ(service->find_instance("sec", {0})->str(), "second");
}

TEST_F(QueueTest, NobodyWaitsForAnIdThatAnotherHasOrHad) {
    const auto first = ask("first", 12000, "", 1000);
    ASSERT_TRUE(runs(first));
    pids.erase("first");
    EXPECT_FALSE(waits(ask("first", 8000, "forever", 1001)));
    EXPECT_TRUE(queued().empty());
}

TEST_F(QueueTest, WhoAsksOnceMoreCantAskForSomethingElse) {
    ask("first", 12000);
    const auto second = ask("second", 8000, "forever", 0, {{"CGPU_TIME", "10m"}});
    const auto other = ask("second", 8000);
    EXPECT_EQ(other->answer->error().reason, model::Refusal::Reason::exists) << refusal(other);
    EXPECT_TRUE(waits(second));
    end("first");
    ASSERT_TRUE(runs(second));
    EXPECT_EQ((*second->answer)->instance.time->seconds, 600U);
}

TEST_F(QueueTest, OneUserCantFillIt) {
    ask("first", 16000);
    std::vector<std::shared_ptr<Call>> all;
    for (std::size_t i = 0; i < AdmissionQueue::kMostOfUser; ++i)
        all.push_back(ask("of-1000-" + std::to_string(i), 1000, "forever", 1000));
    EXPECT_TRUE(std::ranges::all_of(all, waits));
    const auto more = ask("more", 1000, "forever", 1000);
    EXPECT_EQ(more->answer->error().reason, model::Refusal::Reason::busy);
    EXPECT_TRUE(waits(ask("another", 1000, "forever", 1001)));
}

TEST_F(QueueTest, OneThatCantStartAtItsTurnHoldsUpNobody) {
    ask("first", 12000);
    const auto second = ask("second", 8000);
    const auto third = ask("third", 8000);
    processes.living.erase(pid_of("second"));  // it has just ended, and nobody knows yet
    end("first");
    EXPECT_NE(refusal(second).find("has ended"), std::string::npos) << refusal(second);
    EXPECT_TRUE(runs(third)) << refusal(third);
}

TEST_F(QueueTest, NobodysTurnComesWhileTheDiskRefuses) {
    ASSERT_TRUE(runs(ask("first", 16000)));
    const auto second = ask("second", 4000);
    const auto third = ask("third", 4000);
    const auto fourth = ask("fourth", 4000);
    ASSERT_TRUE(service->release_instance("first", caller, {}));
    store.full = true;
    loop.advance(1);
    EXPECT_NE(refusal(second).find("no space left"), std::string::npos) << "its turn found it out";
    loop.advance(60 * kSecond);
    EXPECT_TRUE(waits(third));
    EXPECT_NE(waits_for("third").find("no space left"), std::string::npos) << waits_for("third");
    const auto fifth = ask("fifth", 4000);
    loop.advance(1);
    store.full = false;
    loop.advance(AdmissionQueue::kLookEvery);
    EXPECT_TRUE(runs(third) && runs(fourth));
}

TEST_F(QueueTest, WhatTheNameServiceSaysIsLookedAtAtOnce) {
    people.known = {{1000, "alice", {{1000, "alice"}}}};
    ASSERT_TRUE(runs(ask("first", 16000)));
    const auto second = ask("second", 4000, "forever", 1000);
    ASSERT_TRUE(waits(second));
    people.answers = false;
    limits::Rules rules;
    rules.users["alice"].instances = 3;
    limits.set_rules(rules);
    end("first");
    loop.advance(1);
    EXPECT_TRUE(waits(second)) << "nobody knows alice yet";
    people.answer();
    loop.advance(1);
    EXPECT_TRUE(runs(second));
}

TEST_F(QueueTest, NobodyStartsFirstBecauseTheNameServiceKnowsThemSooner) {
    people.known = {{1000, "alice", {{1000, "alice"}}}, {1001, "bob", {{1001, "bob"}}}};
    limits::Rules rules;
    rules.users["alice"].instances = 3;
    limits.set_rules(rules);
    ASSERT_TRUE(runs(ask("first", 14000)));
    const auto alices = ask("alices", 8000, "forever", 1000);
    const auto bobs = ask("bobs", 1000, "forever", 1001);
    ASSERT_TRUE(waits(bobs)) << "it would delay alice's";
    people.answers = false;
    limits.set_rules(rules);
    loop.advance(AdmissionQueue::kLookEvery);
    auto asked = std::exchange(people.open, {});
    ASSERT_EQ(asked.size(), 2U);
    for (const auto& [who, found] : asked)
        if (who == PersonWord(1001U)) found(people.known[1]);
    loop.advance(AdmissionQueue::kLookEvery);
    EXPECT_TRUE(waits(bobs)) << "it is known soon whether alice may start";
    EXPECT_NE(waits_for("bobs").find("(alices) comes first"), std::string::npos) << waits_for("bobs");
    loop.advance(OwnerLimits::kPatience);
    EXPECT_TRUE(waits(alices) && runs(bobs)) << "which isn't waited for for ever";
    people.answers = true;
    limits.set_rules(rules);
    loop.advance(AdmissionQueue::kLookEvery);
    end("first");
    loop.advance(1);
    EXPECT_TRUE(runs(alices));
}

TEST_F(QueueTest, ANameServiceThatFailsIsNotAskedWithoutAPause) {
    people.known = {{1000, "alice", {{1000, "alice"}}}};
    ASSERT_TRUE(runs(ask("first", 16000)));
    const auto second = ask("second", 4000, "forever", 1000);
    people.broken = true;
    limits::Rules rules;
    rules.users["alice"].instances = 3;
    limits.set_rules(rules);
    const int before = people.asked;
    for (int i = 0; i < 1000; ++i) loop.advance(kSecond / 100);
    EXPECT_LE(people.asked - before, 12);
    EXPECT_TRUE(waits(second));
    EXPECT_NE(waits_for("second").find("the name service doesn't answer"), std::string::npos);
}

TEST_F(QueueTest, ALongerTimeThanItsOwnerMayHaveIsRefusedAtOnce) {
    limits::Rules rules;
    rules.others.time = 3600;
    limits.set_rules(rules);
    ask("first", 12000, "", 1000);
    const auto second = ask("second", 8000, "forever", 1000, {{"CGPU_TIME", "2h"}});
    EXPECT_NE(refusal(second).find("1h for each instance"), std::string::npos) << refusal(second);
    EXPECT_TRUE(recorded.of(EventType::queue_entered).empty());
    const auto third = ask("third", 8000, "forever", 1000, {{"CGPU_TIME", "30m"}});
    ASSERT_TRUE(waits(third));
    EXPECT_EQ(service->queue()->find(*model::InstanceId::parse("third"))->waiting.length, 1800 * kSecond);
}

TEST_F(QueueTest, AnEndThatOthersCountOnIsExtendedByAdministratorsAlone) {
    const auto id = *model::InstanceId::parse("first");
    ASSERT_TRUE(runs(ask("first", 12000, "", 1000, {{"CGPU_TIME", "1h"}})));
    EXPECT_TRUE(service->extend(id, 60, {.dry_run = true, .only_lowered_of = 1000}));
    ask("second", 8000, "forever", 1001);
    loop.advance(1);
    EXPECT_TRUE(service->queue()->counts_on_ends());
    const auto refused = service->extend(id, 60, {.only_lowered_of = 1000});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, model::Refusal::Reason::busy);
    EXPECT_TRUE(service->extend(id, 60, {}));
}

TEST_F(QueueTest, ALimitOfItsOwnerIsWaitedFor) {
    limits::Rules rules;
    rules.others.instances = 1;
    limits.set_rules(rules);
    const auto first = ask("first", 1000, "", 1000);
    ASSERT_TRUE(runs(first)) << refusal(first);
    const auto second = ask("second", 1000, "forever", 1000);
    ASSERT_TRUE(waits(second));
    EXPECT_TRUE(runs(ask("of-another", 1000, "", 1001)));
    loop.advance(1);
    EXPECT_NE(waits_for("second").find("its owner's limits"), std::string::npos) << waits_for("second");
    end("first");
    EXPECT_TRUE(runs(second)) << refusal(second);
}

}  // namespace
}  // namespace cgpu::app
