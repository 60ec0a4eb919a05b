// Parts that are held for instances to come.
#include "tests/unit/daemon/app/queue/queue_bed.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;
using test::QueueTest;

const std::string kToken(32, 'a');
const std::string kOther(32, 'b');

class ReservationsTest : public QueueTest {
  protected:
    ReservationsTest() { service->adopt(); }

    Asked request(const std::string& id, const std::map<std::string, std::string>& variables,
                  std::uint32_t user = 0) {
        const auto pid = pid_of(id);
        processes.living.insert(pid);
        processes.users[pid] = user;
        return {id, id, variables, {user, {pid, 7, "boot"}}};
    }
    Result<Created> reserve(const std::string& id, const std::string& token, std::uint64_t seconds = 600,
                            std::uint32_t user = 0, std::map<std::string, std::string> variables = {}) {
        variables.emplace("CGPU_MEM", "4GiB");
        auto asked = request(id, variables, user);
        asked.hold = Hold{token, seconds};
        auto made = service->create_instance(asked);
        end(id);
        return made;
    }
    Result<Created> use(const std::string& id, const std::string& token, std::uint32_t user = 0,
                        std::map<std::string, std::string> variables = {}) {
        variables.emplace("CGPU_RESERVATION", token);
        return service->create_instance(request(id, variables, user));
    }
    const model::Instance* find(const std::string& id) {
        return service->node().find_instance(*model::InstanceId::parse(id));
    }
    static std::string text(const Result<Created>& result) { return result ? "" : result.error().text; }
    void restart(const std::string& boot = "boot") {
        const auto saved = store.saved;
        service.reset();
        start(saved, boot);
        service->adopt();
        see_v100();
        service->adopt_queue(queue_store.left());
    }
};

TEST_F(ReservationsTest, HoldsItsPartWithoutAProcess) {
    ASSERT_TRUE(reserve("held", kToken)) << "its caller has ended";
    loop.advance(60 * kSecond);
    ASSERT_NE(find("held"), nullptr);
    EXPECT_EQ(service->node().allocated(v100), model::Bytes::from_gib(4));
    EXPECT_NE(text(service->create_instance(request("big", {{"CGPU_MEM", "14GiB"}}))).find("is free"),
              std::string::npos);
}

TEST_F(ReservationsTest, GivesItToWhoeverBringsTheToken) {
    ASSERT_TRUE(reserve("held", kToken, 600, 0, {{"CGPU_COMPUTE", "50%"}, {"CGPU_OWNER", "alice"}}));
    const auto quotas = find("held")->quotas;
    publisher.said.clear();
    const int saves = store.saves;
    const auto used = use("job", kToken);
    ASSERT_TRUE(used) << text(used);
    EXPECT_EQ(used->instance.quotas, quotas);
    EXPECT_EQ(used->instance.owner.declared, "alice");
    EXPECT_EQ(store.saves, saves + 1) << "at once";
    EXPECT_EQ(find("held"), nullptr);
    EXPECT_FALSE(find("job")->reservation);
    EXPECT_FALSE(find("job")->time);
    EXPECT_EQ(publisher.said, (std::vector<std::string>{"added job", "gpus", "gpus", "removed held"}));
    ASSERT_TRUE(attach("job", pid_of("job")));
    EXPECT_NE(text(use("again", kToken)).find("there is no such reservation"), std::string::npos) << "once";
    end("job");
    EXPECT_EQ(find("job"), nullptr) << "it ends as every instance";
}

TEST_F(ReservationsTest, GivesItOnAFullGpu) {
    ASSERT_TRUE(reserve("all", kOther, 600, 0, {{"CGPU_COMPUTE", "100%"}}));
    EXPECT_TRUE(use("job", kOther));
}

TEST_F(ReservationsTest, IsItsMakersAndRoots) {
    ASSERT_TRUE(reserve("held", kToken, 600, 1000));
    const auto stolen = use("job", kToken, 1001);
    ASSERT_FALSE(stolen);
    EXPECT_EQ(stolen.error().reason, Refusal::Reason::not_permitted);
    const auto used = use("container", kToken, 0, {{"CGPU_OWNER", "bob"}});
    ASSERT_TRUE(used) << text(used);
    EXPECT_EQ(used->instance.owner.user, 1000U) << "a container of root's engine has its owner";
    EXPECT_EQ(used->instance.creator, 0U);
    ASSERT_EQ(used->warnings.size(), 1U);
}

TEST_F(ReservationsTest, CountsForItsOwnersLimitsBeforeAndAfter) {
    people.known = {{1000, "alice", {{1000, "alice"}}}};
    limits::Rules rules;
    rules.others.memory = model::Bytes::from_gib(4);
    limits.set_rules(rules);
    service->prepare({1000, {}}, [](const Result<void>&) {});
    ASSERT_TRUE(reserve("held", kToken, 600, 1000));
    EXPECT_FALSE(reserve("more", kOther, 600, 1000, {{"CGPU_MEM", "1GiB"}}));
    ASSERT_TRUE(use("container", kToken)) << "the part isn't counted twice";
    EXPECT_FALSE(reserve("more", kOther, 600, 1000, {{"CGPU_MEM", "1GiB"}})) << "the container has it now";
}

TEST_F(ReservationsTest, EndsWhenNobodyUsesIt) {
    ASSERT_TRUE(reserve("held", kToken, 600));
    loop.advance(599 * kSecond);
    ASSERT_NE(find("held"), nullptr);
    recorded.all.clear();
    loop.advance(2 * kSecond);
    EXPECT_EQ(find("held"), nullptr);
    ASSERT_EQ(recorded.of(EventType::time_over).size(), 1U);
    EXPECT_EQ(std::get<std::string>(recorded.of(EventType::time_over)[0].details.at("end")), "unused");
    EXPECT_TRUE(recorded.of(EventType::ends_soon).empty());
    EXPECT_TRUE(service->node().spent().empty());
    EXPECT_FALSE(use("job", kToken));
}

TEST_F(ReservationsTest, IsExtendedAndGivenBack) {
    ASSERT_TRUE(reserve("held", kToken, 600));
    ASSERT_TRUE(service->extend(*model::InstanceId::parse("held"), 3600, {}));
    loop.advance(4100 * kSecond);
    EXPECT_NE(find("held"), nullptr);
    EXPECT_TRUE(service->release_instance("held", caller, {}));
    EXPECT_EQ(find("held"), nullptr);
}

TEST_F(ReservationsTest, ADiskThatRefusesItsEndIsTriedAgain) {
    ASSERT_TRUE(reserve("held", kToken, 600));
    store.full = true;
    loop.advance(601 * kSecond);
    for (int i = 0; i < 60; ++i) loop.advance(kSecond);
    EXPECT_NE(find("held"), nullptr);
    EXPECT_TRUE(recorded.of(EventType::time_over).empty()) << "it isn't free";
    store.full = false;
    for (int i = 0; i < 3; ++i) loop.advance(kSecond);
    EXPECT_EQ(find("held"), nullptr);
}

TEST_F(ReservationsTest, GivesTheTimeThatWasAskedFor) {
    ASSERT_TRUE(reserve("held", kToken, 600, 0, {{"CGPU_TIME", "2h"}}));
    EXPECT_EQ(find("held")->time->seconds, 600U);
    EXPECT_NE(text(use("long", kToken, 0, {{"CGPU_TIME", "3h"}})).find("for 2h at most"), std::string::npos);
    ASSERT_TRUE(use("job", kToken));
    EXPECT_EQ(find("job")->time->seconds, 7200U);
    ASSERT_TRUE(reserve("next", kOther, 600, 0, {{"CGPU_TIME", "2h"}}));
    ASSERT_TRUE(use("short", kOther, 0, {{"CGPU_TIME", "1h"}}));
    EXPECT_EQ(find("short")->time->seconds, 3600U);
}

TEST_F(ReservationsTest, IsNotIdleItselfAndGivesThatLimitToo) {
    ASSERT_TRUE(reserve("held", kToken, 3600, 0, {{"CGPU_IDLE", "5m"}}));
    loop.advance(1800 * kSecond);
    ASSERT_NE(find("held"), nullptr);
    ASSERT_TRUE(use("job", kToken));
    ASSERT_TRUE(find("job")->idle);
    EXPECT_EQ(find("job")->idle->seconds, 300U);
}

TEST_F(ReservationsTest, GivesNoMoreThanItWasAskedForWith) {
    ASSERT_TRUE(reserve("held", kToken, 3600, 0, {{"CGPU_IDLE", "5m"}}));
    EXPECT_NE(text(use("job", kToken, 0, {{"CGPU_IDLE", "5h"}})).find("for 5m at most"), std::string::npos);
    people.known = {{1000, "alice", {{1000, "alice"}}}};
    ASSERT_TRUE(reserve("timed", kOther, 600, 1000, {{"CGPU_TIME", "1h"}}));
    limits::Rules rules;
    rules.others.time = 60;
    limits.set_rules(rules);
    service->prepare({1000, {}}, [](const Result<void>&) {});
    const auto stricter = use("stricter", kOther, 1000);
    ASSERT_TRUE(stricter) << text(stricter);
    EXPECT_EQ(find("stricter")->time->seconds, 60U) << "a rule that has become stricter since";
}

TEST_F(ReservationsTest, IsNotTakenOverByItself) {
    ASSERT_TRUE(reserve("held", kToken));
    const auto itself = use("held", kToken);
    ASSERT_FALSE(itself);
    EXPECT_EQ(itself.error().reason, Refusal::Reason::exists);
    EXPECT_TRUE(find("held")->reservation);
}

TEST_F(ReservationsTest, IsKeptWhileItsGpuIsLost) {
    ASSERT_TRUE(reserve("held", kToken));
    service->gpus_seen({});
    EXPECT_FALSE(use("job", kToken));
    ASSERT_NE(find("held"), nullptr);
    see_v100();
    EXPECT_TRUE(use("job", kToken));
}

TEST_F(ReservationsTest, IsItsOwnersToo) {
    auto asked = request("held", {{"CGPU_MEM", "4GiB"}});
    asked.origin.runs_as = 1000;
    asked.hold = Hold{kToken, 600};
    ASSERT_TRUE(service->create_instance(asked)) << "root, under alice's sudo";
    EXPECT_EQ(find("held")->owner.user, 1000U);
    EXPECT_FALSE(use("bobs", kToken, 1001));
    EXPECT_TRUE(use("alices", kToken, 1000));
}

TEST_F(ReservationsTest, ItsOwnerHoldsItForADayInAll) {
    ASSERT_TRUE(reserve("held", kToken, 600, 1000));
    const auto id = *model::InstanceId::parse("held");
    const Options of_owner{.only_lowered_of = 1000};
    EXPECT_TRUE(service->extend(id, 3600, of_owner));
    EXPECT_FALSE(service->extend(id, kLongestHold, of_owner));
    EXPECT_TRUE(service->extend(id, kLongestHold, {})) << "an administrator";
}

TEST_F(ReservationsTest, ComputesNothingThatCouldBePaused) {
    ASSERT_TRUE(reserve("held", kToken));
    const auto id = *model::InstanceId::parse("held");
    EXPECT_FALSE(service->changes().make(QuotaChange{.instance = id, .paused = true}, {}));
}

TEST_F(ReservationsTest, NoProcessLivesWithOne) {
    ASSERT_TRUE(reserve("held", kToken));
    processes.living.insert(300);
    const auto attached = attach("held", 300);
    ASSERT_FALSE(attached);
    EXPECT_EQ(attached.error().reason, Refusal::Reason::unsupported);
}

TEST_F(ReservationsTest, TokensAreWellFormedAndUnique) {
    EXPECT_FALSE(reserve("short", "abc"));
    EXPECT_FALSE(reserve("upper", std::string(32, 'A')));
    ASSERT_TRUE(reserve("held", kToken));
    const auto twice = reserve("twice", kToken);
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().reason, Refusal::Reason::exists);
    ASSERT_TRUE(runs(ask("full", 11000)));
    auto waiting = request("waits", {{"CGPU_MEM", "8GiB"}, {"CGPU_WAIT", "forever"}});
    waiting.hold = Hold{std::string(32, 'c'), 600};
    const auto first = std::make_shared<Call>(Call{"waits", std::nullopt});
    repeat(waiting, first);
    ASSERT_TRUE(waits(first));
    auto same = request("same", {{"CGPU_MEM", "8GiB"}, {"CGPU_WAIT", "forever"}});
    same.hold = waiting.hold;
    const auto second = std::make_shared<Call>(Call{"same", std::nullopt});
    repeat(same, second);
    EXPECT_NE(refusal(second).find("another one has it"), std::string::npos);
    EXPECT_FALSE(reserve("never", kOther, 0));
    EXPECT_FALSE(reserve("longer", kOther, kLongestHold + 1));
    for (const auto& refused :
         {text(reserve("x", "secret")), text(use("y", "secret")), text(use("z", kOther))})
        EXPECT_EQ(refused.find("secret") + refused.find(kOther), 2 * std::string::npos) << refused;
}

TEST_F(ReservationsTest, NothingElseIsAskedForWithIt) {
    ASSERT_TRUE(reserve("held", kToken));
    for (const char* name : {"CGPU_MEM", "CGPU_COMPUTE", "CGPU_WEIGHT", "CGPU_GPUS", "CGPU_PRIO", "CGPU_MODE",
                             "CGPU_PROFILE", "ALIYUN_COM_GPU_MEM_CONTAINER"}) {
        const auto both = use("job", kToken, 0, {{name, "1"}});
        ASSERT_FALSE(both) << name;
        EXPECT_NE(text(both).find("leave out " + std::string(name)), std::string::npos) << text(both);
    }
    EXPECT_FALSE(use("job", kToken, 0, {{"NVIDIA_VISIBLE_DEVICES", "0"}}));
    EXPECT_TRUE(use("job", kToken, 0, {{"NVIDIA_VISIBLE_DEVICES", "all"}, {"CGPU_WAIT", "10s"}}));
}

TEST_F(ReservationsTest, ADrainedGpuStartsNothing) {
    ASSERT_TRUE(reserve("held", kToken));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = "0", .drained = true}, {}));
    const auto refused = use("job", kToken);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::busy);
    ASSERT_NE(find("held"), nullptr) << "it is held on";
}

TEST_F(ReservationsTest, ADryRunChangesNothing) {
    ASSERT_TRUE(reserve("held", kToken));
    auto asked = request("job", {{"CGPU_RESERVATION", kToken}});
    asked.options.dry_run = true;
    const auto would = service->create_instance(asked);
    ASSERT_TRUE(would) << text(would);
    EXPECT_EQ(would->instance.quotas.size(), 1U);
    EXPECT_NE(find("held"), nullptr);
    EXPECT_EQ(find("job"), nullptr);
}

TEST_F(ReservationsTest, OutlivesARestartButNoBoot) {
    ASSERT_TRUE(reserve("held", kToken, 600));
    restart();
    loop.advance(120 * kSecond);
    ASSERT_NE(find("held"), nullptr);
    restart("the next boot");
    loop.advance(1);
    EXPECT_EQ(find("held"), nullptr);
    EXPECT_FALSE(use("job", kToken));
}

TEST_F(ReservationsTest, WaitsInTheQueueForItsPart) {
    ASSERT_TRUE(runs(ask("first", 14000)));
    ASSERT_TRUE(attach("first", pid_of("first")));
    auto asked = request("held", {{"CGPU_MEM", "4GiB"}, {"CGPU_WAIT", "forever"}}, 1000);
    asked.hold = Hold{kToken, 600};
    auto call = std::make_shared<Call>(Call{"held", std::nullopt});
    repeat(asked, call);
    EXPECT_TRUE(waits(call));
    restart();
    auto back = std::make_shared<Call>(Call{"held", std::nullopt});
    repeat(asked, back);
    EXPECT_TRUE(waits(back));
    end("first");
    loop.advance(kSecond);
    ASSERT_TRUE(runs(back)) << refusal(back);
    end("held");
    loop.advance(kSecond);
    ASSERT_NE(find("held"), nullptr) << "its caller is gone, and it is held";
    EXPECT_TRUE(use("job", kToken, 1000));
}

}  // namespace
}  // namespace cgpu::app
