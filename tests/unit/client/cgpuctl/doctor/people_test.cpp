#include <gtest/gtest.h>

#include "tests/unit/client/cgpuctl/doctor/checks_bed.hpp"

/// The name service, by which limits hold.
namespace cgpu::cgpuctl::doctor {
namespace {

class People : public Checks {
  protected:
    Findings check(bool is_root = true) {
        auto all = look(is_root);
        for (const auto& [key, value] : values_)
            all.configuration.push_back({key, value, "/etc/cgpu/cgpud.yaml:3", "", "", ""});
        all.no_people = no_people_;
        return check_people(all);
    }

    std::vector<std::pair<std::string, std::string>> values_;
    std::string no_people_;
};

TEST_F(People, IsNotNeededForRulesWithoutNames) {
    values_ = {{"limits.default.instances", "2"}, {"policy", "fixed"}};
    expect_ok(check());
    snapshot_.reset();
    EXPECT_EQ(found(check()).level, Level::unchecked);
}

TEST_F(People, KnowsWhomTheLimitsName) {
    values_ = {{"limits.users.root.memory", "4GiB"},
               {"limits.users.4000000000.gpus", "1"},
               {"limits.groups.root.memory", "4GiB"},
               {"limits.groups.0.gpus", "1"}};
    expect_ok(check());
    expect_ok(check(false));
}

/// Found as a rule with a typo, which passed in silence.
TEST_F(People, NamesThatTheSystemDoesNotHaveAreTold) {
    values_ = {{"limits.users.no.such.user.memory", "4GiB"}, {"limits.users.no.such.user.gpus", "1"}};
    const Finding user = found(check());
    EXPECT_EQ(user.level, Level::warning);
    EXPECT_EQ(
        user.what,
        "/etc/cgpu/cgpud.yaml:3: the limits name the user \"no.such.user\", and the system knows none of "
        "that name");
    EXPECT_NE(user.fix.find("getent passwd"), std::string::npos);
    values_ = {{"limits.groups.no such group.memory", "4GiB"}};
    EXPECT_NE(found(check()).fix.find("getent group"), std::string::npos);
    values_ = {{"limits.groups.4000000000.memory", "4GiB"}};
    EXPECT_EQ(found(check()).level, Level::warning) << "nobody is in a group that the system doesn't have";
    values_ = {{"limits.users.declared.memory", "4GiB"}, {"limits.trust_declared_owners", "true"}};
    expect_ok(check());
}

TEST_F(People, ThatDoNotAnswerCgpudAreAProblem) {
    values_ = {{"limits.groups.students.memory", "4GiB"}};
    no_people_ =
        "the name and the groups of user id 7: the name service doesn't answer. Try: getent passwd, which "
        "asks "
        "the same name service.";
    const Finding finding = found(check());
    EXPECT_EQ(finding.level, Level::problem);
    EXPECT_EQ(finding.what, "cgpud gets no answer of it: the name service doesn't answer");
    EXPECT_EQ(finding.fix, "getent passwd, which asks the same name service");
}

}  // namespace
}  // namespace cgpu::cgpuctl::doctor
