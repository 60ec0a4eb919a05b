#include "client/cgpuctl/top/session.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/readings.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using std::chrono::milliseconds;
using Kind = client::ClientError::Kind;

/// web and train on GPU 0, idle on GPU 1.
class TopSession : public testing::Test {
  protected:
    TopSession() {
        add_instance(snapshot_, "aaaa", "train", 0).gpus[0].quota.weight = 5;
        add_instance(snapshot_, "bbbb", "idle", 1).gpus[0].usage.achieved_share = 0;
        read();
    }
    void read() { session_.took(reading_at(snapshot_, second_++)); }
    Effect press(const std::string& keys) {
        Effect effect;
        for (const char c : keys)
            effect = session_.press(c == '\n'     ? Key{Key::Kind::enter}
                                    : c == '\x1b' ? Key{Key::Kind::escape}
                                                  : letter(std::string(1, c)));
        return effect;
    }
    std::string names() {
        std::string text;
        for (const InstanceRow& row : session_.instances())
            text += (text.empty() ? "" : " ") + row.name + (row.place == session_.selected() ? "*" : "");
        return text;
    }

    client::Snapshot snapshot_ = two_gpus();
    int second_ = 0;
    Session session_{milliseconds{1000}};
};

TEST_F(TopSession, TheSelectionMovesAndStaysWithItsInstance) {
    EXPECT_EQ(names(), "web* train idle");
    press("j");
    EXPECT_EQ(names(), "web train* idle");
    press("s");
    EXPECT_EQ(session_.sorted_by(), SortBy::name);
    EXPECT_EQ(names(), "idle train* web");
    session_.press({Key::Kind::up});
    session_.press({Key::Kind::up});
    EXPECT_EQ(names(), "idle* train web");
    session_.press({Key::Kind::last});
    EXPECT_EQ(names(), "idle train web*");
    session_.press({Key::Kind::page_up});
    EXPECT_EQ(names(), "idle* train web");
    press("<<");
    EXPECT_EQ(session_.sorted_by(), SortBy::memory);
}

TEST_F(TopSession, IfTheSelectedOneEndsAnotherIsSelected) {
    press("j");
    snapshot_.instances.erase(snapshot_.instances.begin() + 1);
    read();
    EXPECT_EQ(names(), "web* idle");
    snapshot_.instances.clear();
    read();
    EXPECT_EQ(session_.selected(), std::nullopt);
    EXPECT_EQ(press("w"), Effect{});
    EXPECT_EQ(session_.question(), "");
    EXPECT_EQ(session_.message().text, "There is no instance to change.");
}

TEST_F(TopSession, TheFilterIsTypedAndShownAtOnce) {
    press("/tr");
    EXPECT_EQ(names(), "train*");
    EXPECT_TRUE(session_.question().ends_with("tr"));
    // q belongs to the text.
    EXPECT_EQ(press("q"), Effect{});
    EXPECT_EQ(names(), "");
    session_.press({Key::Kind::backspace});
    press("\n");
    EXPECT_EQ(session_.question(), "");
    EXPECT_EQ(names(), "train*");
    press("\x1b");
    EXPECT_EQ(names(), "web train* idle");
    press("/x\x1b");
    EXPECT_EQ(session_.filter(), "");
}

TEST_F(TopSession, AChangeIsWantedAfterYesOnly) {
    EXPECT_EQ(press("jw7\n"), Effect{});
    EXPECT_EQ(session_.question(), "Weight 7 of train on GPU 0: set it? [y/N] ");
    EXPECT_EQ(press("n"), Effect{});
    EXPECT_EQ(session_.message(), (Session::Message{"Nothing was changed.", false}));
    const auto effect = press("w7\ny");
    ASSERT_TRUE(effect.change);
    EXPECT_EQ(*effect.change, (client::Change{.instance = "aaaa", .gpu = kUuid0, .weight = 7}));
    session_.changed(*effect.change, {});
    EXPECT_EQ(session_.message(), (Session::Message{"Weight 7 of train on GPU 0 is set.", false}));
}

TEST_F(TopSession, WhatIsInForceIsShownInTheQuestion) {
    press("j");
    press("w");
    EXPECT_NE(session_.question().find("(now 5; "), std::string::npos) << session_.question();
    press("\x1bp");
    EXPECT_NE(session_.question().find("(now normal; "), std::string::npos) << session_.question();
    press("\x1bP");
    EXPECT_NE(session_.question().find("policy of GPU 0 (now weighted; "), std::string::npos)
        << session_.question();
}

TEST_F(TopSession, ThePolicyOfANodesOnlyGpuNeedsNoInstance) {
    snapshot_.instances.clear();
    read();
    press("P");
    EXPECT_EQ(session_.question(), "");
    snapshot_.gpus.pop_back();
    read();
    const auto effect = press("Psoft\ny");
    ASSERT_TRUE(effect.change);
    EXPECT_EQ(*effect.change, (client::Change{.instance = "", .gpu = kUuid0, .policy = "soft"}));
    session_.changed(*effect.change, {});
    EXPECT_EQ(session_.message().text, "Policy soft of GPU 0 is set.");
}

TEST_F(TopSession, ARefusalIsShown) {
    const auto effect = press("w99\ny");
    ASSERT_TRUE(effect.change);
    session_.changed(*effect.change, client::fail(Kind::refused, "weight 99: too much. Try: 1 to 20."));
    EXPECT_EQ(session_.message(), (Session::Message{"weight 99: too much. Try: 1 to 20.", true}));
    press("j");
    EXPECT_EQ(session_.message().text, "");
}

TEST_F(TopSession, OneChangeAtATimeAndQuitWaitsForIt) {
    const auto effect = press("w3\ny");
    ASSERT_TRUE(effect.change);
    EXPECT_EQ(session_.message().text, "cgpud is asked.");
    press("w");
    EXPECT_EQ(session_.question(), "");
    EXPECT_FALSE(press("q").quit);
    EXPECT_TRUE(press("q").quit);
    session_.changed(*effect.change, {});
    EXPECT_TRUE(press("q").quit);
}

TEST_F(TopSession, AGpuThatIsNotTheInstancesCantBeChangedForIt) {
    snapshot_.instances[0].foreign_gpus = {{kUuid1, 1, {}}};
    read();
    press("jj");
    EXPECT_EQ(names(), "web train web* idle");
    press("w");
    EXPECT_EQ(session_.question(), "");
    EXPECT_NE(session_.message().text.find("web: GPU 1 isn't its own. Try: "), std::string::npos);
}

TEST_F(TopSession, TheEndOfTheInstanceEndsTheQuestion) {
    press("jw7\n");
    snapshot_.instances.erase(snapshot_.instances.begin() + 1);
    read();
    EXPECT_EQ(session_.question(), "");
    EXPECT_TRUE(session_.message().bad);
    EXPECT_EQ(press("y"), Effect{});
}

TEST_F(TopSession, CgpudGoesAndComesBack) {
    session_.failed({Kind::unreachable, "cgpud: it isn't running. Try: systemctl start cgpud."});
    EXPECT_TRUE(
        session_.message().text.starts_with("cgpud: it isn't running. Try: systemctl start cgpud. The "
                                            "figures are those of "))
        << session_.message().text;
    EXPECT_EQ(names(), "web* train idle");
    // It stays as long as it holds.
    press("j");
    EXPECT_TRUE(session_.message().bad);
    read();
    EXPECT_EQ(session_.message(), (Session::Message{"cgpud answers again.", false}));
    press("j");
    EXPECT_EQ(session_.message().text, "");
}

TEST_F(TopSession, PauseAndDelay) {
    EXPECT_EQ(press(" "), Effect{});
    EXPECT_TRUE(session_.paused());
    EXPECT_TRUE(press(" ").read_now);
    EXPECT_FALSE(session_.paused());
    press("+");
    EXPECT_EQ(session_.delay(), milliseconds{2000});
    EXPECT_TRUE(press("--").read_now);
    EXPECT_EQ(session_.delay(), milliseconds{500});
    for (int i = 0; i < 20; ++i) press("-");
    EXPECT_EQ(session_.delay(), milliseconds{100});
    for (int i = 0; i < 20; ++i) press("+");
    EXPECT_EQ(session_.delay(), milliseconds{60000});
    // One that was chosen by --delay is kept at the ends.
    Session slow{std::chrono::seconds{3600}};
    slow.press(letter("+"));
    EXPECT_EQ(slow.delay(), std::chrono::seconds{3600});
}

TEST_F(TopSession, HelpGoesWithAnyKey) {
    press("?");
    EXPECT_TRUE(session_.shows_help());
    EXPECT_EQ(press("q"), Effect{});
    EXPECT_FALSE(session_.shows_help());
    EXPECT_EQ(press("X"), Effect{});
    EXPECT_EQ(session_.message().text, "There is no such key. Press ? for all keys.");
    EXPECT_TRUE(press("q").quit);
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
