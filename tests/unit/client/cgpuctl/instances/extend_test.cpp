#include <nlohmann/json.hpp>

#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

class Extending : public VerbTest<ExtendInput> {
  protected:
    Extending() {
        input_.instances = {"web"};
        input_.time = "1h30m";
    }
};

TEST_F(Extending, GivesItMoreTime) {
    ASSERT_TRUE(call(&extend_verb));
    EXPECT_EQ(node_.calls, std::vector<std::string>{"extend web 5400"});
    EXPECT_EQ(screen_.out.str(), "web: it has 1h30m more.\n");
}

TEST_F(Extending, SeveralOnlyIfAllCouldBe) {
    input_.instances = {"web", "db"};
    node_.refusals["extend db 5400 dry-run"] = {Kind::refused, "extending db: no. Try: less.", "NoSpace"};
    const auto refused = call(&extend_verb);
    ASSERT_FALSE(refused);
    EXPECT_EQ(exit_code(refused.error().kind), 4);
    EXPECT_EQ(node_.calls, (std::vector<std::string>{"extend web 5400 dry-run", "extend db 5400 dry-run"}));
}

TEST_F(Extending, ADryRunChangesNothing) {
    input_.dry_run = true;
    ASSERT_TRUE(call(&extend_verb));
    EXPECT_EQ(node_.calls, std::vector<std::string>{"extend web 5400 dry-run"});
    EXPECT_EQ(screen_.out.str(), "web: it could have 1h30m more; nothing was changed.\n");
}

TEST_F(Extending, AsJson) {
    input_.json = true;
    ASSERT_TRUE(call(&extend_verb));
    EXPECT_EQ(Json::parse(screen_.out.str()),
              Json::parse(R"([{"instance": "web", "seconds": 5400, "dry_run": false}])"));
}

TEST_F(Extending, ATimeWithoutUnitIsWrongUsage) {
    input_.time = "90";
    const auto refused = call(&extend_verb);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::usage);
    EXPECT_EQ(refused.error().text, "time \"90\": it has no unit. Try: 2h, 90m, 1h30m or 7d, for example.");
    EXPECT_TRUE(node_.calls.empty());
}

class Timed : public VerbTest<ShowInput> {
  protected:
    Timed() {
        auto& web = node_.snapshot.instances[0];
        web.time_limit = 7200;
        web.time_left = 5400;
    }
};

TEST_F(Timed, ListAndShowHaveWhatIsLeft) {
    ASSERT_TRUE(call(&list, {}));
    EXPECT_NE(screen_.out.str().find("running, 1h30m left"), std::string::npos) << screen_.out.str();
    input_.target = "web";
    ASSERT_TRUE(call(&show));
    EXPECT_NE(screen_.out.str().find("1h30m left of 2h"), std::string::npos) << screen_.out.str();
    node_.snapshot.instances[0].time_left = 0;
    ASSERT_TRUE(call(&show));
    EXPECT_NE(screen_.out.str().find("over, after 2h"), std::string::npos) << screen_.out.str();
    ASSERT_TRUE(call(&list, {}));
    EXPECT_NE(screen_.out.str().find("time over"), std::string::npos) << screen_.out.str();
}

TEST_F(Timed, ShowAndListHaveTheTimeWithoutWork) {
    auto& web = node_.snapshot.instances[0];
    web.idle_limit = 1800;
    input_.target = "web";
    ASSERT_TRUE(call(&show));
    EXPECT_NE(screen_.out.str().find("ends after 30m without work"), std::string::npos) << screen_.out.str();
    web.idle_over = true;
    ASSERT_TRUE(call(&show));
    EXPECT_NE(screen_.out.str().find("over, after 30m without work"), std::string::npos) << screen_.out.str();
    ASSERT_TRUE(call(&list, {}));
    EXPECT_NE(screen_.out.str().find("idle too long"), std::string::npos) << screen_.out.str();
}

TEST_F(Timed, LimitsHaveTheLongestTime) {
    node_.limits_of_user.holder = "alice";
    node_.limits_of_user.limits = {{"time", std::nullopt, "seconds", 86400, 0, "limits.default.time"}};
    ASSERT_TRUE(call(&limits, {}));
    EXPECT_NE(screen_.out.str().find("24h"), std::string::npos) << screen_.out.str();
}

}  // namespace
}  // namespace cgpu::cgpuctl
