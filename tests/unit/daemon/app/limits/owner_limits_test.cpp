#include "daemon/app/limits/owner_limits.hpp"

#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

/// A service whose users have limits.
class OwnerLimitsTest : public ServiceTest {
  protected:
    OwnerLimitsTest() {
        see_v100();
        people.known = {{1000, "alice", {{1000, "alice"}, {2000, "students"}}},
                        {1001, "bob", {{1001, "bob"}}}};
        rules.groups["students"].memory = model::Bytes::from_gib(4);
        limits.set_rules(rules);
        processes.living.insert(100);
    }

    /// As the bus does it: first what is needed is found out, then the request is judged.
    Result<Created> ask(std::uint32_t user, const std::string& id, const std::string& size,
                        std::map<std::string, std::string> variables = {}, Origin origin = {}) {
        caller.user = processes.users[100] = user;
        variables["CGPU_MEM"] = size;
        std::optional<Result<void>> ready;
        service->prepare(service->owner_of({id, id, variables, caller, {}, origin}),
                         [&](const Result<void>& known) { ready = known; });
        if (!ready) return model::refuse(Refusal::Reason::busy, id, "it waits", "wait");
        if (!*ready) return tl::unexpected(ready->error());
        return service->create_instance({id, id, variables, caller, {}, std::move(origin)});
    }

    static std::string text(const Result<Created>& result) {
        return result ? "admitted" : result.error().text;
    }

    limits::Rules rules;
};

TEST_F(OwnerLimitsTest, bind_the_members_of_a_group) {
    EXPECT_EQ(text(ask(1000, "one", "3GiB")), "admitted");
    const auto refused = ask(1000, "two", "2GiB");
    EXPECT_NE(
        text(refused).find("alice may have 4GiB in all (limits.groups.students.memory), and has 1 instance: "
                           "one (3GiB)"),
        std::string::npos)
        << text(refused);
    EXPECT_EQ(text(ask(1001, "bobs", "8GiB")), "admitted") << "who is in no such group";
    EXPECT_EQ(people.asked, 2) << "an answer is kept";
    ASSERT_TRUE(service->release_instance("one", caller, {}));
    EXPECT_EQ(text(ask(1000, "two", "2GiB")), "admitted");
}

TEST_F(OwnerLimitsTest, hold_whatever_a_request_declares_and_however_it_is_asked) {
    EXPECT_EQ(text(ask(1000, "one", "3GiB")), "admitted");
    EXPECT_NE(text(ask(1000, "two", "2GiB", {{"CGPU_OWNER", "bob"}})), "admitted");
    EXPECT_NE(text(ask(1000, "two", "2GiB", {}, {{}, 1001})), "admitted");
    EXPECT_NE(text(ask(0, "two", "2GiB", {}, {{}, 1000})), "admitted") << "sudo cgpuctl run, as alice";
    EXPECT_EQ(text(ask(0, "three", "2GiB", {}, {{}, 0})), "admitted") << "root's own";
    EXPECT_EQ(text(ask(0, "four", "2GiB", {{"CGPU_OWNER", "alice"}})), "admitted") << "a claim binds nobody";
    rules.trust_declared_owners = true;
    limits.set_rules(rules);
    const auto declared = ask(0, "five", "1GiB", {{"CGPU_OWNER", "alice"}});
    EXPECT_NE(text(declared).find("one (3GiB)"), std::string::npos) << text(declared);
    EXPECT_NE(text(declared).find("four (2GiB)"), std::string::npos) << "what she has declared counts, too";
    EXPECT_EQ(text(ask(0, "six", "1GiB", {{"CGPU_OWNER", "nobodyknown"}})), "admitted");
}

TEST_F(OwnerLimitsTest, of_containers_count_those_that_nobody_owns) {
    rules = {};
    rules.containers.instances = 1;
    limits.set_rules(rules);
    EXPECT_EQ(text(ask(1000, "job", "1GiB")), "admitted");
    EXPECT_EQ(text(ask(0, "web", "1GiB")), "admitted");
    EXPECT_NE(text(ask(0, "db", "1GiB", {{"CGPU_OWNER", "alice"}}))
                  .find("the containers of root's engine together"),
              std::string::npos);
    EXPECT_EQ(people.asked, 0) << "these rules need no name service";
}

TEST_F(OwnerLimitsTest, nobody_is_root_by_declaring_it) {
    rules = {};
    rules.users["alice"].instances = 1;
    rules.containers.instances = 1;
    rules.trust_declared_owners = true;
    limits.set_rules(rules);
    people.known.push_back({0, "root", {}});
    EXPECT_EQ(text(ask(0, "one", "1GiB", {{"CGPU_OWNER", "root"}})), "admitted");
    EXPECT_NE(text(ask(0, "two", "1GiB", {{"CGPU_OWNER", "root"}})), "admitted");
    EXPECT_NE(text(ask(0, "two", "1GiB")), "admitted");
    EXPECT_EQ(text(ask(0, "two", "1GiB", {{"CGPU_OWNER", "alice"}})), "admitted");
}

TEST_F(OwnerLimitsTest, refuse_where_the_name_service_does) {
    people.broken = true;
    EXPECT_EQ(text(ask(0, "roots", "1GiB", {}, {{}, 0})), "admitted") << "root's limits need none";
    EXPECT_NE(text(ask(1000, "one", "1GiB")).find("the name service doesn't answer"), std::string::npos);
    EXPECT_EQ(text(ask(0, "web", "1GiB")), "admitted") << "about containers it isn't asked";
    people.broken = false;
    people.known[1].groups.push_back({4711, ""});
    EXPECT_NE(text(ask(1001, "bobs", "1GiB")).find("no name for its group 4711"), std::string::npos);
    people.answers = false;
    EXPECT_EQ(text(ask(1000, "one", "1GiB")), "one: it waits. Try: wait.");
    rules.users["alice"].instances = 0;
    limits.set_rules(rules);
    const auto late = service->create_instance({"one", "one", {{"CGPU_MEM", "1GiB"}}, caller, {}});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().reason, Refusal::Reason::try_again) << "nobody has been asked since the reload";
}

TEST_F(OwnerLimitsTest, are_asked_for_again_after_a_while) {
    EXPECT_EQ(text(ask(1001, "one", "5GiB")), "admitted");
    people.known[1].groups.push_back({2000, "students"});
    EXPECT_EQ(text(ask(1001, "two", "1GiB")), "admitted");
    loop.advance(OwnerLimits::kKept + 1);
    EXPECT_NE(text(ask(1001, "three", "1GiB")), "admitted");
    EXPECT_EQ(service->node().instances().size(), 2U) << "those that are there stay";
}

TEST_F(OwnerLimitsTest, are_told_to_their_user) {
    EXPECT_EQ(text(ask(1000, "one", "3GiB")), "admitted");
    std::optional<Result<view::Limits>> told;
    const auto tell = [&](const Result<view::Limits>& found) { told = found; };
    service->describe_limits("", 1000, tell);
    ASSERT_TRUE(told && *told);
    EXPECT_EQ((*told)->holder, "alice");
    ASSERT_EQ((*told)->limits.size(), 1U);
    EXPECT_EQ((*told)->limits[0].name, "memory");
    EXPECT_EQ((*told)->limits[0].used, 3U << 30U);
    EXPECT_EQ((*told)->limits[0].most, std::uint64_t{4} << 30U);
    service->describe_limits("bob", 1000, tell);
    ASSERT_FALSE(*told);
    EXPECT_EQ(told->error().reason, Refusal::Reason::not_permitted);
    service->describe_limits("bob", 0, tell);
    EXPECT_TRUE((*told)->limits.empty());
    service->describe_limits("alice", 1000, tell);
    ASSERT_TRUE(*told) << "a user may say the own name";
    EXPECT_EQ((*told)->holder, "alice");
    service->describe_limits("zoe", 0, tell);
    EXPECT_EQ(told->error().reason, Refusal::Reason::not_found);
    const int asked = people.asked;
    for (const char* none : {"4294967295", "4294967296", "00099999999999"}) {
        service->describe_limits(none, 0, tell);
        EXPECT_EQ(told->error().reason, Refusal::Reason::not_found) << none;
    }
    EXPECT_EQ(people.asked, asked) << "numbers that are no ids are no names either";
    service->describe_limits("a\tb", 0, tell);
    EXPECT_EQ(told->error().reason, Refusal::Reason::invalid);
}

}  // namespace
}  // namespace cgpu::app::test
