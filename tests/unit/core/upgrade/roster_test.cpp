#include "core/upgrade/roster.hpp"

#include <gtest/gtest.h>

namespace cgpu::upgrade {
namespace {

Who who(const char* instance, std::int32_t pid) {
    return {*model::InstanceId::parse(instance), {pid, 1, "boot"}};
}

TEST(Roster, the_versions_of_an_instance_are_those_of_its_own_processes) {
    const Version one = *Version::parse("1.0.0");
    const Version two = *Version::parse("2.0.0");
    Roster roster;
    // Others before, between and behind it; beginnings of its id among them.
    const std::initializer_list<std::pair<const char*, std::int32_t>> all = {{"a", 9},  {"ab", 1},  {"ab", 7},
                                                                             {"ab", 8}, {"aba", 2}, {"b", 1}};
    for (const auto& [instance, pid] : all) {
        roster.connected(who(instance, pid), 1, one);
        EXPECT_FALSE(roster.said({who(instance, pid), 1, 0, wire::SwitchResult::running, one, ""}, 0));
    }
    roster.connected(who("ab", 7), 2, one);
    EXPECT_FALSE(roster.said({who("ab", 7), 2, 0, wire::SwitchResult::running, two, ""}, 0));
    roster.known(who("ab", 5));
    const std::map<std::int32_t, std::set<Version>> expected = {{1, {one}}, {7, {one, two}}, {8, {one}}};
    EXPECT_EQ(roster.versions(*model::InstanceId::parse("ab")), expected);
    EXPECT_EQ(roster.versions(*model::InstanceId::parse("b")).size(), 1U);
    EXPECT_TRUE(roster.versions(*model::InstanceId::parse("c")).empty());
    EXPECT_TRUE(roster.versions(*model::InstanceId::parse("aa")).empty());
}

}  // namespace
}  // namespace cgpu::upgrade
