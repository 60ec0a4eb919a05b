#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cgpuctl/verbs/looking.hpp"
#include "dbus/json/node_text.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

class LimitsVerb : public testing::Test {
  protected:
    LimitsVerb() {
        node_.limits_of_user = {
            "alice",
            1000,
            {{"instances", std::nullopt, "instances", 2, 1, "limits.default.instances"},
             {"gpus", std::nullopt, "gpus", std::nullopt, 1, "limits.users.alice.gpus"},
             {"memory_per_gpu", 3, "bytes", std::uint64_t{4} << 30U, std::uint64_t{5} << 30U,
              "limits.users.alice.x"},
             {"compute", 3, "percent", 25, 5, "limits.groups.students.compute"},
             {"priority", std::nullopt, "truth", 0, 0, "limits.groups.students.priority"}},
            {"train (5GiB)"}};
    }
    std::string printed() {
        auto terminal = screen_.terminal();
        const auto done = limits(input_, node_, terminal);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }

    FakeNode node_;
    Screen screen_;
    LimitsInput input_;
};

TEST_F(LimitsVerb, SaysWhatIsInUseAndWhatIsLeft) {
    input_.user = "alice";
    EXPECT_EQ(printed(),
              "Limits of alice:\n"
              "LIMIT           GPU  MOST       USED     LEFT       SET-BY\n"
              "instances       -    2          1        1          limits.default.instances\n"
              "gpus            -    unlimited  1        unlimited  limits.users.alice.gpus\n"
              "memory_per_gpu  3    4096MiB    5120MiB  0MiB       limits.users.alice.x\n"
              "compute         3    25%        5%       20%        limits.groups.students.compute\n"
              "priority        -    normal     -        -          limits.groups.students.priority\n");
    EXPECT_EQ(node_.calls, std::vector<std::string>{"limits alice"});
}

/// Found as the limits of root, who has none.
TEST_F(LimitsVerb, AreThoseOfWhoCalledSudo) {
    if (geteuid() != 0) GTEST_SKIP() << "it takes root";
    for (const char* name : {"SUDO_UID", "PKEXEC_UID"}) {
        setenv(name, "1000", 1);
        EXPECT_TRUE(printed().starts_with("Limits of alice:\n"));
        unsetenv(name);
        EXPECT_EQ(std::exchange(node_.calls, {}), std::vector<std::string>{"limits 1000"}) << name;
    }
    setenv("SUDO_UID", "1000", 1);
    input_.user = "bob";
    (void)printed();
    input_.user = "";
    input_.host = "there";
    (void)printed();
    input_.host = "";
    setenv("SUDO_UID", "0", 1);
    (void)printed();
    unsetenv("SUDO_UID");
    EXPECT_EQ(node_.calls, (std::vector<std::string>{"limits bob", "limits ", "limits "}));
}

TEST_F(LimitsVerb, PrintsJsonThatIsTheDaemons) {
    input_.json = true;
    const auto json = nlohmann::json::parse(printed());
    EXPECT_EQ(json, nlohmann::json::parse(view::limits_text(node_.limits_of_user)));
    EXPECT_EQ(json["limits"][1]["most"], nullptr);
    EXPECT_EQ(json["instances"][0], "train (5GiB)");
    const auto read = view::read_limits_text(view::limits_text(node_.limits_of_user));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(view::limits_text(*read), view::limits_text(node_.limits_of_user));
    EXPECT_FALSE(view::read_limits_text("{"));
}

TEST_F(LimitsVerb, SaysWhereThereIsNone) {
    node_.limits_of_user.limits.clear();
    EXPECT_EQ(printed(), "No limit holds for alice.\n");
}

}  // namespace
}  // namespace cgpu::cgpuctl
