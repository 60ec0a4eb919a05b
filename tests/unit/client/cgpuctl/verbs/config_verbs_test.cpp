#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/base/verbs.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

/// config and revert.
namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

using ConfigVerbs = VerbTest;

TEST_F(ConfigVerbs, NamesSourcesAndWhatIsNotInForce) {
    node_.values = {
        {"placement", "spread", "/etc/cgpu/cgpud.yaml:2", "", "", ""},
        {"gpus.0.policy", "weighted", "state", "fixed", "/etc/cgpu/cgpud.yaml:1", "cgpuctl revert 0"}};
    ASSERT_TRUE(call(&config));
    EXPECT_EQ(screen_.out.str(),
              "KEY            VALUE     SOURCE\n"
              "placement      spread    /etc/cgpu/cgpud.yaml:2\n"
              "gpus.0.policy  weighted  set on this node\n");
    EXPECT_NE(screen_.err.str().find(
                  "gpus.0.policy: /etc/cgpu/cgpud.yaml:1 says fixed, which is not in force. Try: cgpuctl "
                  "revert 0."),
              std::string::npos)
        << screen_.err.str();
}

TEST_F(ConfigVerbs, JsonHasWhatIsNotInForceWhereThereIsSuch) {
    node_.values = {{"placement", "spread", "built in", "", "", ""},
                    {"slice_ms", "5", "built in", "9", "a.yaml:1", "systemctl restart cgpud"}};
    input_.json = true;
    ASSERT_TRUE(call(&config));
    const auto list = nlohmann::json::parse(screen_.out.str());
    EXPECT_EQ(list.at(0),
              (nlohmann::json{{"key", "placement"}, {"value", "spread"}, {"source", "built in"}}));
    EXPECT_EQ(list.at(1).at("configured_source"), "a.yaml:1");
    EXPECT_EQ(list.at(1).at("remedy"), "systemctl restart cgpud");
}

TEST_F(ConfigVerbs, ActionsAreShowAndCheckAndCheckNeedsFiles) {
    for (const char* action : {"chekc", "check"}) {
        input_.action = action;
        const auto done = call(&config);
        ASSERT_FALSE(done) << action;
        EXPECT_EQ(done.error().kind, Kind::usage) << action;
        EXPECT_NE(done.error().text.find(". Try: "), std::string::npos) << done.error().text;
    }
}

TEST_F(ConfigVerbs, RevertAGpuOrTheDefaultMemory) {
    input_.target = "0";
    ASSERT_TRUE(call(&revert));
    input_.target = "default-memory";
    input_.dry_run = true;
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls, (Calls{"revert_gpu 0", "set_default_memory as configured dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "GPU 0: the configuration is in force.\n"
              "Default memory: the configuration could be put in force; nothing was changed.\n");
}

TEST_F(ConfigVerbs, TheModeIsRevertedByAJob) {
    input_.target = "mode";
    node_.values = {{"mode", "memory", "state", "none", "cgpud.yaml:3", "cgpuctl set-mode none"}};
    const auto done = call(&revert);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().text,
              "mode: it is memory, and the configuration says none. Try: cgpuctl set-mode none.");
    node_.values = {{"mode", "memory", "cgpud.yaml:3", "", "", ""}};
    EXPECT_TRUE(call(&revert));
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(ConfigVerbs, AnInstanceIsSentToForget) {
    input_.target = node_.snapshot.instances.at(0).name;
    node_.answer = client::fail(Kind::not_found, "GPU web: there is no such GPU. Try: cgpuctl status.");
    const auto done = call(&revert);
    ASSERT_FALSE(done);
    EXPECT_TRUE(done.error().text.ends_with("Try: cgpuctl forget " + input_.target + "."))
        << done.error().text;
}

}  // namespace
}  // namespace cgpu::cgpuctl
