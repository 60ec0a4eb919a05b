#include "client/fs/node_view.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::fs {
namespace {

TEST(NodeView, AReaderSeesWhatHeldWhenItAsked) {
    cgpuctl::FakeNode node;
    NodeView view(node);
    ASSERT_TRUE(view.now());
    node.snapshot.gpus[0].policy = 3;
    const auto later = view.now();
    ASSERT_TRUE(later);
    EXPECT_EQ((*later)->gpus[0].policy, 3U);
}

TEST(NodeView, NamesAreReadAgainAfterAChange) {
    cgpuctl::FakeNode node;
    NodeView view(node);
    ASSERT_TRUE(view.recent());
    node.snapshot.gpus.pop_back();
    ASSERT_TRUE(view.change(client::Change{.instance = "", .gpu = cgpuctl::kUuid0, .policy = "2"}));
    const auto after = view.recent();
    ASSERT_TRUE(after);
    EXPECT_EQ((*after)->gpus.size(), 1U);
}

TEST(NodeView, OthersThanRootGetFiguresOfUsageOnceASecondAndSettingsAtOnce) {
    cgpuctl::FakeNode node;
    NodeView view(node);
    ASSERT_FALSE(node.snapshot.instances.empty());
    auto& place = node.snapshot.instances[0].gpus.at(0);
    const auto used = place.usage.memory_used;
    const auto first = view.now_for_others();
    ASSERT_TRUE(first);
    place.usage.memory_used = used + 1;
    place.quota.weight = 17;
    const auto second = view.now_for_others();
    ASSERT_TRUE(second);
    const auto& shown = (*second)->instances[0].gpus[0];
    EXPECT_EQ(shown.quota.weight, 17U);
    EXPECT_EQ(shown.usage.memory_used, used);
    EXPECT_EQ((*view.now())->instances[0].gpus[0].usage.memory_used, used + 1) << "root gets those of now";
}

TEST(NodeView, AFailureIsNotKept) {
    cgpuctl::FakeNode node;
    NodeView view(node);
    ASSERT_TRUE(view.recent());
    node.answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: it is away");
    EXPECT_FALSE(view.now());
    EXPECT_FALSE(view.recent()) << "what was read before isn't shown as if it held";
    node.answer = {};
    EXPECT_TRUE(view.recent());
}

// ThreadSanitizer judges: the node itself isn't made for several threads, and the file system has many.
TEST(NodeView, ManyThreadsReadAndChange) {
    cgpuctl::FakeNode node;
    NodeView view(node);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&view] {
            for (int k = 0; k < 50; ++k) {
                EXPECT_TRUE(view.now());
                EXPECT_TRUE(view.recent());
                EXPECT_TRUE(view.now_for_others());
                EXPECT_TRUE(
                    view.change(client::Change{.instance = "", .gpu = cgpuctl::kUuid0, .policy = "2"}));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace cgpu::fs
