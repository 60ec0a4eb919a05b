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
    EXPECT_TRUE(find_gpu(node, "GPU-00000000"));
    EXPECT_TRUE(find_gpu(node, "GPU-00000000-0000-0000-0000-0000000000A"));
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
    EXPECT_EQ(find_instance(node, "abc").error().reason, model::Refusal::Reason::invalid);
    EXPECT_EQ(find_instance(node, "ab").error().reason, model::Refusal::Reason::not_found);
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

/// A node in which the instances have these ids and names.
model::Node node_with_names(const std::vector<std::pair<std::string, std::string>>& instances) {
    model::Node node = node_with({});
    for (const auto& [id, name] : instances) {
        model::Instance instance{*model::InstanceId::parse(id), name, 0, 0, {}, {}, std::nullopt};
        instance.mode = model::Mode::memory_compute;
        instance.quotas = {{node.gpus().front().uuid, model::Bytes::from_mib(64), 1, false, false}};
        EXPECT_TRUE(node.add_instance(instance));
    }
    return node;
}

TEST(Lookup, what_another_user_calls_an_instance_does_not_take_the_place_of_an_id) {
    const std::string victim = "0123456789abcdef0123456789abcdef";
    const auto node = node_with_names({{"aaaa", "0123456789ab"}, {"bbbb", victim}, {victim, "web"}});
    EXPECT_EQ(find_instance(node, "0123456789ab")->str(), victim);
    EXPECT_EQ(find_instance(node, victim)->str(), victim);
    EXPECT_EQ(find_instance(node, "0123456789abc")->str(), victim);
    EXPECT_EQ(find_instance(node, "web")->str(), victim);
}

TEST(Lookup, what_is_ambiguous_is_refused_with_the_candidates) {
    const auto node = node_with_names({{"my-training-1", "a\x1b"},
                                       {"my-training-2", ""},
                                       {"zzzz", "my-t"},
                                       {"aaaabbbbccccdddd", "same"},
                                       {"bbbbccccddddeeee", "same"}});
    const auto named = find_instance(node, "same");
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().reason, model::Refusal::Reason::invalid);
    EXPECT_EQ(
        named.error().text,
        "instance \"same\": several instances are meant by it. Try: name one of: aaaabbbbcccc (\"same\"), "
        "bbbbccccdddd (\"same\").");
    const auto by_short_id = find_instance(node, "my-training-");
    ASSERT_FALSE(by_short_id);
    EXPECT_NE(by_short_id.error().text.find(": my-training-1 (\"a\\x1b\"), my-training-2."),
              std::string::npos)
        << by_short_id.error().text << ": short ids would be the same";
    EXPECT_EQ(find_instance(node, "my-t")->str(), "zzzz") << "a name comes before the beginning of an id";
    EXPECT_EQ(find_instance(node, "my-tr").error().reason, model::Refusal::Reason::invalid);
}

/// The same of two users', `train` of bob and `Train` of alice; and a container that nobody owns.
model::Node node_of_two_users() {
    model::Node node = node_with({});
    for (const auto& [id, name, owner] : std::vector<std::tuple<std::string, std::string, model::Owner>>{
             {"aaaabbbbccccdddd", "train", {1001, {}}},
             {"bbbbccccddddeeee", "train", {1000, {}}},
             {"ccccddddeeeeffff", "Render", {1000, {}}},
             {"ddddeeeeffff0000", "web", {}}}) {
        model::Instance instance{*model::InstanceId::parse(id), name, 0, 0, {}, {}, std::nullopt};
        instance.mode = model::Mode::memory_compute;
        instance.quotas = {{node.gpus().front().uuid, model::Bytes::from_mib(64), 1, false, false}};
        instance.owner = owner;
        EXPECT_TRUE(node.add_instance(instance));
    }
    return node;
}

TEST(Lookup, a_users_own_name_stays_clear_whatever_others_choose) {
    const auto node = node_of_two_users();
    EXPECT_EQ(find_instance(node, "train", {1000})->str(), "bbbbccccddddeeee");
    EXPECT_EQ(find_instance(node, "train", {1001, true})->str(), "aaaabbbbccccdddd");
    for (const auto& naming : {Naming{0U}, Naming{0U, true}, Naming{2000U}, Naming{}}) {
        const auto several = find_instance(node, "train", naming);
        ASSERT_FALSE(several);
        EXPECT_EQ(several.error().text,
                  "instance \"train\": several instances are meant by it. Try: name one of: aaaabbbbcccc "
                  "(\"train\", user id 1001), bbbbccccdddd (\"train\", user id 1000).");
    }
}

/// Found as a `stop train` that took another user's `Train`, because the own one had just ended.
TEST(Lookup, nobody_changes_what_a_word_only_resembles_if_it_is_another_users) {
    const auto node = node_of_two_users();
    for (const char* word : {"render", "ccccd"}) {
        EXPECT_TRUE(find_instance(node, word, {1001})) << "to look at it";
        EXPECT_TRUE(find_instance(node, word, {1000, true})) << "its owner";
        for (const auto user : {0U, 1001U}) {
            const auto refused = find_instance(node, word, {user, true});
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().reason, model::Refusal::Reason::not_found);
            EXPECT_EQ(refused.error().text, "instance \"" + std::string(word) +
                                                "\": no instance has this name or id, and the one that "
                                                "resembles it is another user's. Try: name ccccddddeeee "
                                                "(\"Render\", user id 1000) if that is meant.");
        }
    }
    for (const char* word : {"Render", "ccccddddeeee", "ccccddddeeeeffff", "WEB", "dddd"})
        EXPECT_TRUE(find_instance(node, word, {0U, true})) << word;
}

TEST(Lookup, a_refusal_names_a_bounded_number_of_candidates) {
    std::vector<std::pair<std::string, std::string>> many;
    for (int n = 10; n < 28; ++n) many.emplace_back("id" + std::to_string(n), "same");
    const auto refused = find_instance(node_with_names(many), "same");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("id25 (\"same\") or 2 others"), std::string::npos)
        << refused.error().text;
    EXPECT_EQ(refused.error().text.find("id26"), std::string::npos);
}

TEST(Lookup, a_typo_is_refused_with_the_likely_name) {
    const auto node = node_with({"abcdef01"});
    EXPECT_NE(find_instance(node, "nam-abcdef01").error().text.find("Try: name \"name-abcdef01\" if that"),
              std::string::npos);
    EXPECT_EQ(find_instance(node, "other").error().text.find("if that is meant"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::app
