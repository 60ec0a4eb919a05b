#include "daemon/app/looks/second_looks.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {
namespace {

using Reason = model::Refusal::Reason;

struct SecondLooksTest : testing::Test {
    [[nodiscard]] bool doubts(Reason reason) const { return looks.may_be_outdated({reason, "GPU 0: gone."}); }
    void ask(const std::string& name) {
        looks.then([this, name] {
            answered.push_back(name);
            EXPECT_FALSE(doubts(Reason::not_found)) << "it has just been looked";
        });
    }
    void answer() {
        ASSERT_TRUE(done);
        const auto call = std::exchange(done, nullptr);
        call();
    }
    FakeLoop loop;
    model::Node node = cgpu::test::v100();
    bool fails = false;
    int begun = 0;
    std::function<void()> done;
    std::vector<std::string> answered;
    SecondLooks looks{{loop,
                       [this](std::function<void()> call) {
                           ++begun;
                           done = std::move(call);
                       },
                       [this]() -> const model::Node& { return node; }, [this] { return fails; }}};
};

TEST_F(SecondLooksTest, OnlyWhatMayHaveChangedIsDoubted) {
    for (const Reason reason :
         {Reason::invalid, Reason::exists, Reason::not_permitted, Reason::storage, Reason::changed,
          Reason::unsupported, Reason::no_memory, Reason::no_space, Reason::busy})
        EXPECT_FALSE(doubts(reason)) << to_string(reason);
    EXPECT_TRUE(doubts(Reason::not_found)) << "a GPU may have been added";
    EXPECT_FALSE(looks.may_be_outdated({Reason::not_found, "instance \"a\": there is none."}));
    fails = true;
    for (const Reason reason : {Reason::unsupported, Reason::no_memory, Reason::no_space, Reason::busy})
        EXPECT_TRUE(doubts(reason)) << to_string(reason);
    EXPECT_FALSE(doubts(Reason::not_permitted));
    fails = false;
    node.set_held_unmanaged({{cgpu::test::uuid(0), model::Bytes::from_mib(1)}});
    EXPECT_TRUE(doubts(Reason::no_memory)) << "it may have been given back";
    EXPECT_FALSE(doubts(Reason::unsupported));
    node.set_held_unmanaged({});
    node.lose_driver("NVML says: Driver Not Loaded");
    EXPECT_TRUE(doubts(Reason::no_memory));
    node = model::Node();
    EXPECT_TRUE(doubts(Reason::unsupported)) << "no GPU has been seen yet";
}

TEST_F(SecondLooksTest, RequestsThatComeTogetherShareALook) {
    ask("a");
    ask("b");
    loop.advance(0);
    EXPECT_EQ(begun, 1);
    EXPECT_TRUE(answered.empty());
    answer();
    EXPECT_EQ(answered, (std::vector<std::string>{"a", "b"}));
}

// The look may have begun before that changed for which the request came.
TEST_F(SecondLooksTest, ARequestWaitsForALookThatBeginsAfterIt) {
    ask("a");
    loop.advance(0);
    ask("b");
    answer();
    EXPECT_EQ(answered, std::vector<std::string>{"a"});
    loop.advance(SecondLooks::kBetween);
    EXPECT_EQ(begun, 2);
    answer();
    EXPECT_EQ(answered.size(), 2U);
}

TEST_F(SecondLooksTest, TheDriverIsNotAskedMoreOftenBySomebodyWhoIsRefusedAgainAndAgain) {
    for (int i = 0; i < 100; ++i) {
        ask("a");
        loop.advance(SecondLooks::kBetween / 10);
        if (done) answer();
    }
    EXPECT_LE(begun, 11);
    EXPECT_GE(begun, 9);
}

TEST_F(SecondLooksTest, MoreThanWaitAreRefusedAtOnce) {
    for (std::size_t i = 0; i < SecondLooks::kMost; ++i) {
        EXPECT_TRUE(doubts(Reason::not_found));
        ask("a");
    }
    EXPECT_FALSE(doubts(Reason::not_found));
    loop.advance(0);
    EXPECT_TRUE(doubts(Reason::not_found));
}

}  // namespace
}  // namespace cgpu::app::test
