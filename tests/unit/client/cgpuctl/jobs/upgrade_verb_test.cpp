#include <gtest/gtest.h>

#include <csignal>

#include "client/cgpuctl/jobs/job_wait.hpp"
#include "client/cgpuctl/jobs/verbs.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

client::Job upgrade_job(const std::string& state, const std::string& result = "",
                        const std::string& message = "") {
    return {3, "hot", "1.1.0", "1.2.0", state, 2, 5, message, result};
}

class UpgradeVerb : public testing::Test {
  protected:
    client::Result<void> call(Terminal::Style style = {}) {
        auto terminal = screen_.terminal(style);
        return upgrade(input_, node_, terminal);
    }

    FakeNode node_;
    Screen screen_;
    UpgradeInput input_;
};

TEST_F(UpgradeVerb, WaitsAndSaysWhatHappened) {
    input_.hot = "1.2.0";
    node_.jobs = {upgrade_job("canary"), upgrade_job("all"),
                  upgrade_job("ended", "done", "1.2.0 is in force in 5 running processes.")};
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"hot 1.2.0", "watch /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.out.str(),
              "upgrade 3 (hot, 1.1.0 to 1.2.0): done. 1.2.0 is in force in 5 running processes.\n");
    EXPECT_EQ(screen_.err.str(), "") << "no line of progress where there is no terminal";
}

TEST_F(UpgradeVerb, OnATerminalALineSaysHowFarItIs) {
    input_.cold = "1.2.0";
    input_.drain = true;
    input_.timeout = "90";
    node_.jobs = {upgrade_job("drain", "", "waits for 3 instances to end"), upgrade_job("ended", "done", "")};
    ASSERT_TRUE(call({.live = true}));
    EXPECT_EQ(node_.calls, (Calls{"cold 1.2.0 drain 90 s", "watch /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.err.str(),
              "\r\033[Kupgrade 3 (hot, 1.1.0 to 1.2.0): drain, 2 of 5; waits for 3 instances to end\r\033[K");
}

TEST_F(UpgradeVerb, OneThatWentBackIsAFault) {
    input_.hot = "1.2.0";
    for (const char* result : {"failed", "cancelled"}) {
        node_.jobs = {upgrade_job("ended", result, "It went back.")};
        const auto done = call();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, Kind::failed);
        EXPECT_EQ(done.error().text, "upgrade 3 (hot, 1.1.0 to 1.2.0): " + std::string(result) +
                                         ". It went back. Try: journalctl -u cgpud.");
    }
}

TEST_F(UpgradeVerb, AnInterruptCancelsIt) {
    input_.hot = "1.2.0";
    node_.jobs = {upgrade_job("all"), upgrade_job("back"),
                  upgrade_job("ended", "cancelled", "It was cancelled.")};
    // The signal is pending whether the verb is in wait_for_job or hasn't blocked it yet, because it is
    // blocked here.
    sigset_t interrupt;
    sigset_t before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    raise(SIGINT);
    const auto done = call();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    ASSERT_FALSE(done);
    EXPECT_EQ(node_.calls, (Calls{"hot 1.2.0", "watch /org/cgpu1/job/3", "cancel /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.err.str(), "warning: interrupted: it is cancelled, and goes back\n");
}

TEST_F(UpgradeVerb, ADaemonThatIsAwayForAMomentIsWaitedFor) {
    input_.hot = "1.2.0";
    node_.jobs = {upgrade_job("all"), client::fail(Kind::unreachable, "cgpud: away"),
                  upgrade_job("ended", "done", "")};
    EXPECT_TRUE(call());
}

TEST_F(UpgradeVerb, OneWhoseEndWasToldBeforeTheNextTookItsPlaceHasEnded) {
    input_.hot = "1.2.0";
    node_.told_result = "done";
    node_.jobs = {upgrade_job("all"), client::fail(Kind::not_found, "cgpud: it is not there any more")};
    EXPECT_TRUE(call());
    EXPECT_EQ(screen_.out.str(),
              "upgrade 3 (hot, 1.1.0 to 1.2.0): done. The next job has taken its place.\n");
}

TEST_F(UpgradeVerb, AnyOtherFaultEndsTheWaiting) {
    input_.hot = "1.2.0";
    node_.jobs = {client::fail(Kind::not_found, "cgpud: it is not there any more")};
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::not_found);
}

TEST_F(UpgradeVerb, ItIsRefused) {
    input_.hot = "1.2.0";
    node_.answer = client::fail(Kind::refused, "upgrade to 1.2.0: it is in force. Try: another.");
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::refused);
}

TEST_F(UpgradeVerb, NotWaitedFor) {
    input_.hot = "1.2.0";
    input_.no_wait = true;
    node_.jobs = {upgrade_job("canary")};
    ASSERT_TRUE(call());
    EXPECT_EQ(screen_.out.str(),
              "upgrade 3 (hot, 1.1.0 to 1.2.0): begun. cgpuctl status says how far it is.\n");
}

TEST_F(UpgradeVerb, ADryRunHasNoJob) {
    input_.hot = "1.2.0";
    input_.dry_run = true;
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, Calls{"hot 1.2.0 dry-run"});
    EXPECT_EQ(screen_.out.str(), "upgrade to 1.2.0: it could be done; nothing was changed.\n");
}

TEST_F(UpgradeVerb, AsJson) {
    input_.hot = "1.2.0";
    input_.json = true;
    node_.jobs = {upgrade_job("ended", "done", "so")};
    ASSERT_TRUE(call());
    const auto json = Json::parse(screen_.out.str());
    EXPECT_EQ(json["result"], "done");
    EXPECT_EQ(json["target"], "1.2.0");
    EXPECT_EQ(json["all"], 5);
}

TEST_F(UpgradeVerb, WhatMakesNoSenseIsUsage) {
    const auto expect_usage = [&] {
        const auto done = call();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, Kind::usage);
    };
    expect_usage();
    input_.hot = input_.cold = "1.2.0";
    expect_usage();
    input_.cold.clear();
    input_.drain = true;
    expect_usage();
    input_.drain = false;
    input_.timeout = "soon";
    expect_usage();
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(UpgradeVerb, CancelFindsTheOneThatIsUnderWay) {
    input_.cancel = true;
    auto none = call();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, Kind::not_found);
    node_.snapshot.job = upgrade_job("all");
    node_.jobs = {upgrade_job("back"),
                  upgrade_job("ended", "cancelled", "It was cancelled; 1.1.0 is in force.")};
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls, (Calls{"cancel /org/cgpu1/job/3", "watch /org/cgpu1/job/3"}));
    EXPECT_EQ(screen_.out.str(),
              "upgrade 3 (hot, 1.1.0 to 1.2.0): cancelled. It was cancelled; 1.1.0 is in force.\n");
}

TEST_F(UpgradeVerb, StatusShowsTheOneThatIsUnderWay) {
    auto terminal = screen_.terminal();
    node_.snapshot.job = upgrade_job("all", "", "process 7 was asked");
    ASSERT_TRUE(status({}, node_, terminal));
    EXPECT_NE(screen_.out.str().find("upgrade 3 (hot, 1.1.0 to 1.2.0): all, 2 of 5; process 7 was asked\n"),
              std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl
