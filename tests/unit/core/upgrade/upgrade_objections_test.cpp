#include <gtest/gtest.h>

#include "core/upgrade/objections.hpp"
#include "tests/unit/core/upgrade/upgrade_world.hpp"

namespace cgpu::upgrade::test {
namespace {

struct Objections : testing::Test {
    static Who who(std::int32_t pid) { return {*model::InstanceId::parse("web"), {pid, 7, "boot"}}; }
    void add(std::int32_t pid, const Version& front, std::optional<Version> runs) {
        roster.connected(who(pid), 1, front);
        if (runs) roster.said({who(pid), 1, 0, wire::SwitchResult::running, *runs, ""}, 0);
    }
    std::vector<std::string> against(const Manifest& target) {
        return objections(roster, kOld, target, {manifest_of(kOld, kOld), manifest_of({0, 9, 0}, {0, 9, 0})});
    }
    Roster roster;
};

TEST_F(Objections, NoneWhereAllCanGoOverOrHaveNotSaidYetOrAreThere) {
    add(1, kOld, kOld);
    add(2, kOld, std::nullopt);
    add(3, kOld, kNew);
    roster.known(who(4));
    EXPECT_TRUE(against(manifest_of(kNew, kOld)).empty());
}

TEST_F(Objections, EachProcessThatCanNotIsNamed) {
    add(2, kOld, Version{0, 9, 0});
    add(3, kOld, Version{0, 8, 0});
    const auto found = against(manifest_of(kNew, kOld));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0],
              "process 2 of instance web runs 0.9.0: 1.1.0 exchanges running processes with versions from "
              "1.0.0 on, and "
              "0.9.0 is older");
    EXPECT_EQ(found[1], "process 3 of instance web runs 0.8.0, which is not installed any more");
}

TEST_F(Objections, AFrontThatIsTooOldForTheTarget) {
    add(1, kOld, kOld);
    auto target = manifest_of(kNew, kOld);
    target.least_front = kNew;
    ASSERT_EQ(against(target).size(), 1U);
    EXPECT_EQ(against(target)[0], "process 1 of instance web has front 1.0.0, and 1.1.0 needs 1.1.0");
}

}  // namespace
}  // namespace cgpu::upgrade::test
