#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/changing.hpp"
#include "client/cgpuctl/verbs/config.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

/// config, revert, forget and set-default-memory.
namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

using ConfigVerbs = VerbTest<ConfigInput>;
using Reverting = VerbTest<RevertInput>;
using Forgetting = VerbTest<ForgetInput>;
using DefaultMemory = VerbTest<DefaultMemoryInput>;

TEST_F(ConfigVerbs, NamesSourcesAndWhatIsNotInForce) {
    node_.values = {
        {"placement", "spread", "/etc/cgpu/cgpud.yaml:2", "", "", ""},
        {"gpus.0.policy", "weighted", "state", "fixed", "/etc/cgpu/cgpud.yaml:1", "cgpuctl revert 0"}};
    ASSERT_TRUE(call(&config_show));
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

TEST_F(ConfigVerbs, CheckFailsForADifference) {
    node_.values = {{"placement", "spread", "/etc/cgpu/cgpud.yaml:2", "", "", ""}};
    input_.check = true;
    ASSERT_TRUE(call(&config_show));
    EXPECT_EQ(screen_.out.str(), "All that the files say is in force.\n");
    node_.values.push_back(
        {"gpus.0.policy", "weighted", "state", "fixed", "/etc/cgpu/cgpud.yaml:1", "cgpuctl revert 0"});
    node_.values.push_back({"gpus.7.policy", "", "no such GPU", "fixed", "/etc/cgpu/cgpud.yaml:4",
                            "name a GPU that cgpuctl status shows"});
    const auto done = call(&config_show);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::failed);
    EXPECT_NE(done.error().text.find("differ in 2 values"), std::string::npos) << done.error().text;
    EXPECT_EQ(screen_.out.str().find("placement"), std::string::npos) << screen_.out.str();
    EXPECT_NE(screen_.err.str().find(
                  "gpus.7.policy: /etc/cgpu/cgpud.yaml:4 says fixed, and this node has no such GPU"),
              std::string::npos)
        << screen_.err.str();
}

TEST_F(ConfigVerbs, JsonHasWhatIsNotInForceWhereThereIsSuch) {
    node_.values = {{"placement", "spread", "built in", "", "", ""},
                    {"slice_ms", "5", "built in", "9", "a.yaml:1", "systemctl restart cgpud"}};
    input_.json = true;
    ASSERT_TRUE(call(&config_show));
    const auto list = nlohmann::json::parse(screen_.out.str());
    EXPECT_EQ(list.at(0),
              (nlohmann::json{{"key", "placement"}, {"value", "spread"}, {"source", "built in"}}));
    EXPECT_EQ(list.at(1).at("configured_source"), "a.yaml:1");
    EXPECT_EQ(list.at(1).at("remedy"), "systemctl restart cgpud");
}

TEST_F(Reverting, RevertAGpuOrTheDefaultMemory) {
    input_.targets = {"0"};
    ASSERT_TRUE(call(&revert));
    input_.targets = {"default-memory"};
    input_.dry_run = true;
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls,
              (Calls{std::string("GPU ") + kUuid0 + " revert", "set_default_memory as configured dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "GPU 0: the configuration is in force.\n"
              "Default memory: the configuration could be put in force; nothing was changed.\n");
}

TEST_F(Reverting, TheModeIsRevertedByAJob) {
    input_.targets = {"mode"};
    input_.drain = true;
    input_.timeout = "9";
    node_.jobs = {client::Job{4, "mode", "none", "memory", "ended", 0, 0,
                              "memory is in force, as configured.", "done"}};
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls, (Calls{"mode configured drain 9 s", "watch /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.out.str(),
              "switch 4 (mode, none to memory): done. memory is in force, as configured.\n");
}

TEST_F(Reverting, AModeThatIsAsConfiguredNeedsNoJob) {
    input_.targets = {"mode"};
    ClientError there{Kind::refused, "the configured mode of the node: it is in force. Try: another."};
    there.reason = "Exists";
    node_.answer = tl::unexpected(there);
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(screen_.out.str(), "Mode: the configuration is in force.\n");
    there.reason = "Busy";
    node_.answer = tl::unexpected(there);
    EXPECT_FALSE(call(&revert));
}

TEST_F(Reverting, AnInstanceIsRevertedToWhatItWasAdmittedWith) {
    const std::string name = node_.snapshot.instances.at(0).name;
    input_.targets = {name};
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls, Calls{name + " [] revert"});
    EXPECT_EQ(screen_.out.str(), "Instance web: what it was admitted with is in force.\n");
}

TEST_F(Reverting, OptionsSayThatAnInstanceIsMeantAndWhatIsKeptIsNamed) {
    input_.targets = {"web"};
    input_.gpu = "1";
    input_.force = true;
    node_.snapshot.kept = {{0, "web", 0, std::nullopt, 4, std::nullopt}};
    ASSERT_TRUE(call(&revert));
    input_.dry_run = true;
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls, (Calls{"web [1] revert force", "web [1] revert force dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "Instance web: what it was admitted with is in force. What is kept for its next starts stays: "
              "cgpuctl forget web.\n"
              "Instance web: what it was admitted with could be put in force; nothing was changed.\n");
}

TEST_F(Reverting, SeveralAreRevertedAsOneChange) {
    const std::string both = std::string("GPU ") + kUuid0 + " revert; web [] revert to 7";
    input_.targets = {"0", "web"};
    input_.if_generation = "7";
    ASSERT_TRUE(call(&revert));
    EXPECT_EQ(node_.calls, Calls{both});
    EXPECT_EQ(node_.applied, (std::vector<client::Change>{{.instance = "", .gpu = kUuid0, .revert = true},
                                                          {.instance = "web", .gpu = "", .revert = true}}));
    EXPECT_EQ(
        screen_.out.str(),
        "GPU 0: the configuration is in force.\nInstance web: what it was admitted with is in force.\n");
    node_.refusals[both] = {Kind::refused, "change 2: web: it can't be. Try: another.", {}};
    EXPECT_EQ(call(&revert).error().text, "web: it can't be. Try: another.");
}

TEST_F(Reverting, OneThatIsNotThereOrIsRevertedAloneIsNamedBeforeAnythingIsReverted) {
    for (const auto& [target, text] : {std::pair<std::string, std::string>{"7", "GPU 7: it is not there"},
                                       {"mode", "mode: it is reverted alone"},
                                       {"default-memory", "default-memory: it is reverted alone"}}) {
        input_.targets = {"0", target};
        const auto done = call(&revert);
        ASSERT_FALSE(done) << target;
        EXPECT_TRUE(done.error().text.starts_with(text)) << done.error().text;
    }
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(Reverting, AnInstanceThatIsNotThereIsNamedByCgpudAndNothingIsReverted) {
    const std::string both = std::string("GPU ") + kUuid0 + " revert; nobody [] revert";
    node_.refusals[both] = {Kind::not_found, "change 2: nobody: it is not there. Try: another.", {}};
    input_.targets = {"0", "nobody"};
    EXPECT_EQ(call(&revert).error().text, "nobody: it is not there. Try: another.");
    EXPECT_EQ(screen_.out.str(), "");
}

TEST_F(Reverting, OptionsOfAnotherKindAreUsage) {
    for (const auto& [target, set] :
         {std::pair<std::string, void (*)(RevertInput&)>{"0", [](RevertInput& input) { input.drain = true; }},
          {"web", [](RevertInput& input) { input.timeout = "3"; }},
          {"mode", [](RevertInput& input) { input.force = true; }},
          {"mode", [](RevertInput& input) { input.gpu = "0"; }},
          {"mode", [](RevertInput& input) { input.if_generation = "1"; }},
          {"default-memory", [](RevertInput& input) { input.force = true; }},
          {"web", [](RevertInput& input) { input.if_generation = "x"; }}}) {
        input_ = {};
        input_.targets = {target};
        set(input_);
        const auto done = call(&revert);
        ASSERT_FALSE(done) << target;
        EXPECT_EQ(done.error().kind, Kind::usage) << target;
        EXPECT_NE(done.error().text.find(" Try: "), std::string::npos) << done.error().text;
    }
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(DefaultMemory, IsASizeOrTheConfigurations) {
    input_.memory = "4GiB";
    ASSERT_TRUE(call(&set_default_memory));
    input_.memory = "0";
    ASSERT_TRUE(call(&set_default_memory));
    input_.memory = "configured";
    input_.dry_run = true;
    ASSERT_TRUE(call(&set_default_memory));
    EXPECT_EQ(node_.calls, (Calls{"set_default_memory 4294967296", "set_default_memory 0",
                                  "set_default_memory as configured dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "Default memory 4096MiB is set.\nDefault memory 0MiB is set.\n"
              "The configuration's default memory could be set; nothing was changed.\n");
    input_.memory = "4";
    const auto done = call(&set_default_memory);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::usage);
}

TEST_F(Forgetting, ByNameAndOwner) {
    input_.name = "web";
    ASSERT_TRUE(call(&forget));
    EXPECT_EQ(screen_.out.str(), "web: what was kept is forgotten; its next start gets what it asks for.\n");
    input_.owner = "1000";
    input_.dry_run = true;
    ASSERT_TRUE(call(&forget));
    EXPECT_EQ(node_.calls, (Calls{"forget web", "forget web of 1000 dry-run"}));
    for (const char* none : {"nobody", "4294967295"})
        EXPECT_EQ((input_.owner = none, call(&forget)).error().kind, Kind::usage) << none;
}

}  // namespace
}  // namespace cgpu::cgpuctl
