#include "daemon/app/events/repeated.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

class RepeatedTest : public ::testing::Test {
  protected:
    void happens(const std::string& message = "no") {
        series->happened({.type = EventType::allocation_refused, .message = message});
    }
    [[nodiscard]] std::uint64_t told() const {
        std::uint64_t sum = 0;
        for (const auto& event : events) sum += std::get<std::uint64_t>(event.details.at("count"));
        return sum;
    }

    FakeLoop loop;
    std::vector<Event> events;
    std::unique_ptr<Repeated> series =
        std::make_unique<Repeated>(loop, [this](Event event) { events.push_back(std::move(event)); });
};

TEST_F(RepeatedTest, the_first_is_told_at_once_and_the_rest_of_a_pause_as_one) {
    happens("the first");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].message, "the first");
    for (int i = 0; i < 1000; ++i) happens("number " + std::to_string(i));
    EXPECT_EQ(events.size(), 1U);
    loop.advance(Repeated::kFirstPause);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].message, "number 999 (1000 times since the last such line)");
    EXPECT_EQ(told(), 1001U);
}

TEST_F(RepeatedTest, a_pause_without_any_ends_the_series) {
    happens();
    EXPECT_FALSE(series->quiet());
    loop.advance(Repeated::kFirstPause);
    EXPECT_TRUE(series->quiet());
    happens();
    ASSERT_EQ(events.size(), 2U) << "told at once again";
    EXPECT_EQ(events[1].message, "no") << "a single one has no count in its text";
}

TEST_F(RepeatedTest, pauses_become_longer_while_events_go_on) {
    // A program that tries again every millisecond for an hour.
    constexpr int kTimes = 3'600'000;
    std::uint64_t after_a_minute = 0;
    for (int i = 0; i < kTimes; ++i) {
        happens();
        loop.advance(kMilli);
        if (i == 60'000) after_a_minute = events.size();
    }
    EXPECT_LE(after_a_minute, 7U);
    EXPECT_LE(events.size(), 7U + 60U);
    EXPECT_GE(events.size(), 60U) << "one a minute is told";
    loop.advance(Repeated::kLongestPause);
    EXPECT_EQ(told(), static_cast<std::uint64_t>(kTimes)) << "none is lost from the counts";
}

TEST_F(RepeatedTest, what_was_counted_is_told_at_the_end) {
    happens();
    happens();
    happens("the last");
    series.reset();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].message, "the last (2 times since the last such line)");
}

}  // namespace
}  // namespace cgpu::app::test
