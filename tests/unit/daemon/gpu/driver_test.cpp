#include "daemon/gpu/driver.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "daemon/gpu/messages/answer.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::gpu {
namespace {

using app::DriverFigures;

/// The test is the reader: it holds the other ends of the sockets.
class GpuDriver : public testing::Test {
  protected:
    ~GpuDriver() override {
        for (const int end : readers_) close(end);
    }

    app::Result<int> start() {
        if (!startable_)
            return model::refuse(model::Refusal::Reason::unsupported, "reader", "none", "start it");
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
            throw std::runtime_error("socketpair");
        readers_.push_back(ends[1]);
        return ends[0];
    }
    /// What the newest reader was asked; empty: nothing.
    std::optional<Question> asked() {
        std::array<char, 4096> text{};
        const auto got = recv(readers_.back(), text.data(), text.size(), 0);
        if (got <= 0) return std::nullopt;
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "one question at a time";
        auto question = parse_question({text.data(), static_cast<std::size_t>(got)});
        return question ? std::optional(*question) : std::nullopt;
    }
    void say(const std::string& text) {
        const auto length = static_cast<ssize_t>(text.size());
        ASSERT_EQ(send(readers_.back(), text.data(), text.size(), MSG_NOSIGNAL), length);
        loop_.look();
    }
    void say_processes(std::uint64_t id, std::int32_t pid) {
        say(encode(id, DriverFigures{{{pid, 1}}}) + "\n");
    }
    void end_reader() {
        shutdown(readers_.back(), SHUT_RDWR);
        loop_.look();
    }
    /// Appends the pid in the answer, or the refusal's text.
    void ask() {
        driver_.processes(model::Uuid(), [this](const app::Result<DriverFigures>& answer) {
            answers_.push_back(answer ? std::to_string(answer->processes.at(0).pid) : answer.error().text);
        });
        loop_.advance(0);
    }
    void expect_answers(const std::vector<std::string>& parts) {
        ASSERT_EQ(answers_.size(), parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i)
            EXPECT_NE(answers_[i].find(parts[i]), std::string::npos) << answers_[i];
    }

    app::test::FakeLoop loop_;
    bool startable_ = true;
    std::vector<int> readers_;
    std::vector<std::string> answers_;
    Driver driver_{loop_, [this] { return start(); }};
};

TEST_F(GpuDriver, AsksOneQuestionAfterTheOther) {
    ask();
    ask();
    const auto first = asked();
    ASSERT_TRUE(first);
    EXPECT_FALSE(asked()) << "the first has no answer yet";
    say_processes(first->id, 11);
    const auto second = asked();
    ASSERT_TRUE(second);
    say_processes(second->id, 22);
    expect_answers({"11", "22"});
    EXPECT_EQ(readers_.size(), 1U);
}

TEST_F(GpuDriver, AnswersNeverBeforeTheCallHasReturned) {
    startable_ = false;
    bool answered = false;
    driver_.list([&](const auto&) { answered = true; });
    EXPECT_FALSE(answered);
    loop_.advance(0);
    EXPECT_TRUE(answered);
}

TEST_F(GpuDriver, ALineThatComesInParts) {
    ask();
    const auto line = encode(asked()->id, DriverFigures{{{33, 1}}}) + "\n";
    say(line.substr(0, 5));
    EXPECT_TRUE(answers_.empty());
    say(line.substr(5));
    expect_answers({"33"});
}

TEST_F(GpuDriver, ALongAnswer) {
    ask();
    const auto line =
        encode(asked()->id, DriverFigures{std::vector<app::DriverProcess>(2000, {44, ~0ULL})}) + "\n";
    for (std::size_t at = 0; at < line.size(); at += 10'000) say(line.substr(at, 10'000));
    expect_answers({"44"});
}

TEST_F(GpuDriver, AReaderThatCanNotBeStarted) {
    startable_ = false;
    ask();
    ask();
    expect_answers({"Try: start it", "Try: start it"});
    startable_ = true;
    ask();
    say_processes(asked()->id, 5);
    EXPECT_EQ(answers_.back(), "5");
}

TEST_F(GpuDriver, WhoAsksAgainForEachRefusalLeavesTimeForOthers) {
    startable_ = false;
    int refused = 0;
    std::function<void(const app::Result<model::SeenGpus>&)> again = [&](const auto&) {
        if (++refused < 1000) driver_.list(again);
    };
    app::WatchPtr other;
    int refused_before_other = -1;
    driver_.list([&](const auto& answer) {
        other = loop_.at(loop_.now(), [&] { refused_before_other = refused; });
        again(answer);
    });
    loop_.advance(0);
    EXPECT_EQ(refused, 1000);
    EXPECT_LT(refused_before_other, 10);
}

TEST_F(GpuDriver, AReaderThatCanNotBeListenedTo) {
    loop_.refuses_watches = true;
    ask();
    expect_answers({"its reader can't be listened to: "});
    std::array<char, 8> none{};
    EXPECT_EQ(recv(readers_.back(), none.data(), none.size(), 0), 0) << "it was closed";
    loop_.refuses_watches = false;
    ask();
    say_processes(asked()->id, 5);
    EXPECT_EQ(answers_.back(), "5");
}

TEST_F(GpuDriver, AReaderThatEndsIsReplaced) {
    ask();
    ask();
    EXPECT_TRUE(asked());
    end_reader();
    expect_answers({"reader has ended"});
    ASSERT_EQ(readers_.size(), 2U) << "the second question needs one";
    say_processes(asked()->id, 6);
    EXPECT_EQ(answers_.back(), "6");
    end_reader();
    EXPECT_EQ(readers_.size(), 2U) << "nobody asks";
    ask();
    EXPECT_EQ(readers_.size(), 3U);
}

TEST_F(GpuDriver, AHangingDriverIsWaitedForFiveSeconds) {
    ask();
    const auto late = asked();
    loop_.advance(Driver::kPatience / 2);
    ask();
    EXPECT_TRUE(answers_.empty());
    loop_.advance(Driver::kPatience / 2);
    expect_answers({"it has not answered for 5 seconds"});
    loop_.advance(Driver::kPatience);
    expect_answers({"5 seconds", "5 seconds"});
    EXPECT_FALSE(asked()) << "it still has the first question";
    ask();
    say_processes(late->id, 77);  // dropped
    expect_answers({"5 seconds", "5 seconds"});
    say_processes(asked()->id, 88);
    EXPECT_EQ(answers_.back(), "88");
    EXPECT_EQ(readers_.size(), 1U);
}

TEST_F(GpuDriver, WhatIsNoAnswerEndsTheConnection) {
    std::string twice = encode(1, DriverFigures{{{1, 1}}}) + "\n";
    twice += twice;
    for (const std::string& wrong : {std::string("hello\n"), twice, encode(99, DriverFigures{}) + "\n",
                                     encode(1, app::ExaminedDriver{}) + "\n"}) {
        answers_.clear();
        ask();
        asked();
        say(wrong);
        expect_answers({"the NVIDIA driver: its reader"});
        std::array<char, 8> none{};
        EXPECT_EQ(recv(readers_.back(), none.data(), none.size(), 0), 0) << "it was closed";
    }
}

TEST_F(GpuDriver, AnEndlessLineEndsTheConnection) {
    ask();
    asked();
    const std::string part(100'000, ' ');
    for (std::size_t sent = 0; answers_.empty() && sent <= kLongestAnswer + part.size(); sent += part.size())
        say(part);
    expect_answers({"reader has ended"});
}

TEST_F(GpuDriver, WhatWasNotAskedEndsTheConnection) {
    ask();
    say_processes(asked()->id, 1);
    say_processes(1, 2);
    ask();
    EXPECT_EQ(readers_.size(), 2U);
    expect_answers({"1"});
}

TEST_F(GpuDriver, ExaminationsAtTheSameTimeAreOne) {
    int told = 0;
    for (int i = 0; i < 3; ++i)
        driver_.examine([&](const auto& answer) { told += answer && answer->version == "580" ? 1 : 0; });
    loop_.advance(0);
    say(encode(asked()->id, app::ExaminedDriver{"580", {}}) + "\n");
    EXPECT_EQ(told, 3);
    EXPECT_FALSE(asked());
}

}  // namespace
}  // namespace cgpu::gpu
