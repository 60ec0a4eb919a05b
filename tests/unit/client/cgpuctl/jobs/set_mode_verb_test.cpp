#include <gtest/gtest.h>

#include "client/cgpuctl/jobs/verbs.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

client::Job mode_job(const std::string& state, const std::string& result = "",
                     const std::string& message = "") {
    return {4, "mode", "memory+compute", "none", state, 0, 1, message, result};
}

class SetModeVerb : public testing::Test {
  protected:
    client::Result<void> call() {
        auto terminal = screen_.terminal();
        return set_mode(input_, node_, terminal);
    }
    void expect_usage() {
        const auto done = call();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, Kind::usage);
        EXPECT_TRUE(node_.calls.empty());
    }

    FakeNode node_;
    Screen screen_;
    SetModeInput input_;
};

TEST_F(SetModeVerb, DrainsAndSaysWhatHappened) {
    input_.mode = "none";
    input_.drain = true;
    input_.timeout = "90";
    node_.jobs = {mode_job("drain", "", "waits for 1 instance to end"),
                  mode_job("ended", "done", "none is in force.")};
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"mode none drain 90 s", "watch /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.out.str(), "switch 4 (mode, memory+compute to none): done. none is in force.\n");
    EXPECT_EQ(screen_.err.str(), "");
}

TEST_F(SetModeVerb, WarnsOfGpusThatItHasNotReached) {
    input_.mode = "memory";
    node_.snapshot.mode = "memory";
    node_.snapshot.mode_source = "switched";
    node_.snapshot.gpus[0].mode = "none";
    node_.snapshot.gpus[1].mode = "memory";
    node_.jobs = {mode_job("ended", "done", "memory is in force.")};
    ASSERT_TRUE(call());
    EXPECT_NE(screen_.err.str().find("warning: GPU 0: it serves mode none until its instances end"),
              std::string::npos)
        << screen_.err.str();
}

TEST_F(SetModeVerb, ConfiguredAndUntilTheRebootAreToldToCgpud) {
    input_.mode = "configured";
    node_.jobs = {mode_job("ended", "done", "none is in force, as configured.")};
    ASSERT_TRUE(call());
    input_.mode = "memory";
    input_.runtime = true;
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"mode configured", "watch /org/cgpu1/job/3", "mode memory runtime",
                                  "watch /org/cgpu1/job/3"}));
}

TEST_F(SetModeVerb, WaitsUntilNoGpuServesAnotherMode) {
    input_.mode = "memory";
    input_.wait = true;
    node_.snapshot.mode = "memory";
    node_.snapshot.mode_source = "switched";
    node_.snapshot.gpus[1].mode = "memory";
    node_.jobs = {mode_job("ended", "done", "memory is in force.")};
    int reads_left = 3;
    node_.before_reading = [&](client::Snapshot& snapshot) {
        snapshot.gpus[0].mode = reads_left-- > 0 ? "none" : "memory";
    };
    EXPECT_TRUE(call());
    EXPECT_LT(reads_left, 0);
    reads_left = 1000;
    input_.timeout = "1";
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::failed);
    EXPECT_EQ(
        done.error().text,
        "GPU 0: its instances have mode none until they end, after 1 s; the change stays. Try: end them, or "
        "cgpuctl set-mode configured.");
    input_.no_wait = true;
    EXPECT_EQ(call().error().kind, Kind::usage);
}

TEST_F(SetModeVerb, OneThatStaysAsItWasIsAFault) {
    input_.mode = "none";
    node_.jobs = {
        mode_job("ended", "failed", "1 instance had not ended in time; memory+compute stays in force.")};
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::failed);
    EXPECT_EQ(done.error().text,
              "switch 4 (mode, memory+compute to none): failed. 1 instance had not ended in time; "
              "memory+compute stays in force. Try: journalctl -u cgpud.");
}

TEST_F(SetModeVerb, ItIsCancelled) {
    input_.cancel = true;
    node_.snapshot.job = mode_job("drain");
    node_.jobs = {mode_job("ended", "cancelled", "It was cancelled; memory+compute stays in force.")};
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"cancel /org/cgpu1/job/4", "watch /org/cgpu1/job/4"}));
}

TEST_F(SetModeVerb, NotWaitedForAndTried) {
    input_.mode = "none";
    input_.no_wait = true;
    node_.jobs = {mode_job("drain")};
    ASSERT_TRUE(call());
    input_.dry_run = true;
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"mode none", "mode none dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "switch 4 (mode, memory+compute to none): begun. cgpuctl status says how far it is.\n"
              "mode none could be set; nothing was changed.\n");
}

TEST_F(SetModeVerb, WhatMakesNoSenseIsUsage) {
    expect_usage();
    input_.mode = "compute";
    expect_usage();
    input_.mode = "none";
    input_.timeout = "soon";
    expect_usage();
    input_.timeout.clear();
    input_.cancel = true;
    expect_usage();
}

TEST_F(SetModeVerb, StatusTellsOfASwitchedMode) {
    auto terminal = screen_.terminal();
    node_.snapshot.mode = "none";
    node_.snapshot.mode_source = "switched";
    for (auto& gpu : node_.snapshot.gpus) gpu.mode = "none";
    node_.snapshot.instances.clear();
    ASSERT_TRUE(status({}, node_, terminal));
    EXPECT_TRUE(screen_.out.str().starts_with("cgpud 1.2.3, module 1.2.0, switched to mode none\n"));
    screen_.out.str("");
    input_.json = true;
    ASSERT_TRUE(status(input_, node_, terminal));
    const auto json = Json::parse(screen_.out.str());
    EXPECT_EQ(json["mode"], "none");
    EXPECT_EQ(json["mode_source"], "switched");
}

}  // namespace
}  // namespace cgpu::cgpuctl
