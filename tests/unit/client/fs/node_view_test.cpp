#include "client/fs/node_view.hpp"

#include <gtest/gtest.h>

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
    ASSERT_TRUE(view.change(SetPolicy{cgpuctl::kUuid0, "2"}));
    const auto after = view.recent();
    ASSERT_TRUE(after);
    EXPECT_EQ((*after)->gpus.size(), 1U);
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

}  // namespace
}  // namespace cgpu::fs
