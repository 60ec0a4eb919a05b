#include "core/limits/rules.hpp"

#include <gtest/gtest.h>

namespace cgpu::limits {
namespace {

using Kind = Holder::Kind;

Holder user(std::uint32_t id, const std::string& name, std::vector<Group> groups = {}) {
    return {Kind::user, id, name, std::move(groups)};
}

Rules rules() {
    Rules all;
    all.others.instances = 4;
    all.others.compute = 50;
    all.groups["students"].instances = 2;
    all.groups["2001"].instances = 3;
    all.groups["staff"].gpus = 8;
    all.users["alice"].compute = 100;
    all.users["1002"].instances = 1;
    all.containers.gpus = 1;
    return all;
}

TEST(LimitRules, TheNarrowestThatSaysItCounts) {
    const auto alice = in_force(rules(), user(1000, "alice", {{2000, "students"}}));
    EXPECT_EQ(alice.compute->most, 100U);
    EXPECT_EQ(alice.compute->key, "limits.users.alice.compute");
    EXPECT_EQ(alice.instances->most, 2U);
    EXPECT_EQ(alice.instances->key, "limits.groups.students.instances");
    EXPECT_FALSE(alice.memory);
    const auto other = in_force(rules(), user(1001, "bob"));
    EXPECT_EQ(other.instances->key, "limits.default.instances");
    EXPECT_EQ(other.compute->most, 50U);
}

TEST(LimitRules, OfSeveralGroupsTheStricterCounts) {
    const std::vector<Group> groups = {{2001, "phd"}, {2000, "students"}, {2003, "staff"}};
    const auto found = in_force(rules(), user(1001, "bob", groups));
    EXPECT_EQ(found.instances->most, 2U);
    EXPECT_EQ(found.gpus->most, 8U);
    auto all = rules();
    all.groups["students"].priority = true;
    all.groups["staff"].priority = false;
    EXPECT_FALSE(in_force(all, user(1001, "bob", groups)).priority->most);
}

TEST(LimitRules, NameUsersAndGroupsByTheirIdsToo) {
    EXPECT_EQ(in_force(rules(), user(1002, "carol")).instances->key, "limits.users.1002.instances");
    EXPECT_EQ(in_force(rules(), user(1001, "", {{2001, ""}})).instances->key, "limits.groups.2001.instances");
    auto twice = rules();
    twice.users["carol"].instances = 5;
    EXPECT_EQ(in_force(twice, user(1002, "carol")).instances->most, 1U) << "the stricter of both";
    EXPECT_EQ(in_force(rules(), user(1003, "")).instances->key, "limits.default.instances");
}

TEST(LimitRules, DontBindRootUnlessTheyNameRoot) {
    EXPECT_TRUE(in_force(rules(), user(0, "root", {{0, "root"}, {2000, "students"}})).empty());
    auto all = rules();
    all.users["root"].gpus = 2;
    EXPECT_EQ(in_force(all, user(0, "root")).gpus->most, 2U);
}

TEST(LimitRules, OfContainersAreTheirOwn) {
    const auto found = in_force(rules(), {});
    EXPECT_EQ(found.gpus->most, 1U);
    EXPECT_FALSE(found.instances) << "the default is of users";
    EXPECT_TRUE(in_force(Rules{}, user(1000, "alice")).empty());
}

TEST(LimitRules, CountWhatIsDeclaredOnlyWhereThatIsTrusted) {
    auto all = rules();
    const auto alice = user(1000, "alice");
    const model::Owner verified{1000, {}};
    const model::Owner declared{std::nullopt, "alice"};
    EXPECT_TRUE(is_held(all, alice, verified));
    EXPECT_FALSE(is_held(all, alice, declared));
    EXPECT_TRUE(is_held(all, {}, declared)) << "it is a container that nobody owns";
    all.trust_declared_owners = true;
    EXPECT_TRUE(is_held(all, alice, declared));
    EXPECT_FALSE(is_held(all, {}, declared));
    EXPECT_TRUE(is_held(all, {}, {}));
    EXPECT_TRUE(is_held(all, {}, {std::nullopt, "root"})) << "nobody becomes root by it";
    EXPECT_FALSE(is_held(all, user(1001, "bob"), declared));
    EXPECT_FALSE(is_held(all, user(1001, ""), {})) << "nobody's name is nobody's";
    const Holder unknown{Kind::declared, 0, "zoe", {}};
    EXPECT_TRUE(is_held(all, unknown, {std::nullopt, "zoe"}));
    EXPECT_FALSE(is_held(all, unknown, {0, {}}));
    EXPECT_EQ(in_force(all, unknown).instances->key, "limits.default.instances");
}

}  // namespace
}  // namespace cgpu::limits
