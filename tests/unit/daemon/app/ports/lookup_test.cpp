#include "daemon/app/ports/lookup.hpp"

#include <gtest/gtest.h>

namespace cgpu::app {
namespace {

model::Node node_with(const std::vector<std::string>& ids) {
    model::Node node;
    model::SeenGpu gpu;
    gpu.uuid = *model::Uuid::parse("GPU-00000000-0000-0000-0000-0000000000ab");
    gpu.total = model::Bytes::from_gib(16);
    EXPECT_TRUE(node.sync_gpus({{gpu, {}}}));
    for (const auto& id : ids) {
        model::Instance instance{*model::InstanceId::parse(id), "name-" + id, 0, 0, {}, {}, std::nullopt};
        instance.mode = model::Mode::memory_compute;
        instance.quotas = {{gpu.uuid, model::Bytes::from_gib(1), 1, false, false}};
        EXPECT_TRUE(node.add_instance(instance));
    }
    return node;
}

TEST(Lookup, finds_a_gpu_by_index_and_by_uuid_in_either_case) {
    const auto node = node_with({});
    EXPECT_TRUE(find_gpu(node, "0"));
    EXPECT_TRUE(find_gpu(node, "GPU-00000000-0000-0000-0000-0000000000AB"));
    for (const auto* wrong : {"", "1", "-1", "0x0", "0 ", "GPU-", "gpu", "99999999999999999999"}) {
        const auto refused = find_gpu(node, wrong);
        ASSERT_FALSE(refused) << wrong;
        EXPECT_EQ(refused.error().reason, model::Refusal::Reason::not_found);
    }
}

TEST(Lookup, finds_an_instance_by_id_prefix_or_name_and_says_when_several_are_meant) {
    const auto node = node_with({"abcdef01", "abcdef02", "abcd"});
    EXPECT_EQ(find_instance(node, "abcdef01")->str(), "abcdef01");
    EXPECT_EQ(find_instance(node, "abcd")->str(), "abcd");
    EXPECT_EQ(find_instance(node, "name-abcdef02")->str(), "abcdef02");
    EXPECT_EQ(find_instance(node, "abcdef").error().reason, model::Refusal::Reason::invalid);
    EXPECT_EQ(find_instance(node, "abc").error().reason, model::Refusal::Reason::not_found);
    EXPECT_EQ(find_instance(node, "").error().reason, model::Refusal::Reason::not_found);
}

TEST(Lookup, a_name_in_another_case_counts_if_no_instance_has_it_as_written) {
    auto node = node_with({"abcdef01", "abcdef02"});
    EXPECT_EQ(find_instance(node, "NAME-abcdef02")->str(), "abcdef02");
    model::Instance third = *node.find_instance(*model::InstanceId::parse("abcdef02"));
    third.id = *model::InstanceId::parse("abcdef03");
    third.name = "Name-ABCDEF02";
    EXPECT_TRUE(node.add_instance(third));
    EXPECT_EQ(find_instance(node, "Name-ABCDEF02")->str(), "abcdef03");
    EXPECT_EQ(find_instance(node, "name-abcdef02")->str(), "abcdef02");
    EXPECT_EQ(find_instance(node, "NAME-ABCDEF02").error().reason, model::Refusal::Reason::invalid);
}

TEST(Lookup, a_typo_is_refused_with_the_likely_name) {
    const auto node = node_with({"abcdef01"});
    EXPECT_NE(find_instance(node, "nam-abcdef01").error().text.find("Try: name \"name-abcdef01\" if that"),
              std::string::npos);
    EXPECT_EQ(find_instance(node, "other").error().text.find("if that is meant"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::app
