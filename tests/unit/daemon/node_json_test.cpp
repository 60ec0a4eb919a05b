#include "daemon/store/node_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/daemon/saved_nodes.hpp"

/// What is written is read back; anything else is an error that says where.
namespace cgpu::store {
namespace {

using namespace cgpu::test;
using model::Node;
using nlohmann::json;

std::string why_not(const std::string& text) {
    const auto node = read_node(text);
    EXPECT_FALSE(node.has_value()) << text;
    return node ? "" : node.error().why;
}

/// The full node's JSON with something changed in it.
template <typename Change>
std::string why_not_with(Change change) {
    json document = json::parse(write_node(full_node()));
    change(document);
    return why_not(document.dump());
}

TEST(NodeJson, RoundTrips) {
    for (const Node& node : {Node{}, v100(), full_node()}) {
        const auto read = read_node(write_node(node));
        ASSERT_TRUE(read.has_value()) << read.error().why;
        EXPECT_EQ(*read, node);
    }
}

TEST(NodeJson, ANameThatIsNoUtf8IsStillWritten) {
    Node node = v100();
    model::Instance odd = instance("a", {quota(0, 1)});
    odd.name = "\xff";
    ASSERT_TRUE(node.add_instance(odd).has_value());
    EXPECT_TRUE(read_node(write_node(node)).has_value());
}

TEST(NodeJson, CutOffAnywhereItIsAnError) {
    const std::string text = write_node(full_node());
    // The last byte is the newline after the document.
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {
        const auto node = read_node(std::string_view(text).substr(0, size));
        ASSERT_FALSE(node.has_value()) << size;
        if (size > 0) {
            ASSERT_NE(node.error().why.find("cut off"), std::string::npos) << size << node.error().why;
        }
    }
}

TEST(NodeJson, BrokenJsonIsNamedByLineAndColumn) {
    EXPECT_EQ(why_not(""), "the file is empty");
    EXPECT_NE(why_not("{\n  \"version\": x\n}").find("line 2, column 14"), std::string::npos);
    EXPECT_NE(why_not("{} {}").find("line 1, column 4"), std::string::npos);
    EXPECT_NE(why_not(std::string(100000, '[')).find("line 1"), std::string::npos);
    EXPECT_NE(why_not(std::string("\0\0\0\0", 4)).find("line 1, column 1"), std::string::npos);
}

TEST(NodeJson, AnotherVersionIsRefused) {
    const auto newer = read_node(R"({"version": 2, "something": "new"})");
    ASSERT_FALSE(newer.has_value());
    EXPECT_NE(newer.error().why.find("it is of version 2 and this cgpud knows versions up to 1"),
              std::string::npos);
    EXPECT_NE(newer.error().remedy.find("newer cgpud"), std::string::npos);
    EXPECT_NE(why_not(R"({"version": 0})").find("version 0, which is not known"), std::string::npos);
    for (const char* text : {"{}", "[]", "1", "null", R"({"version": "1"})", R"({"version": -1})"})
        EXPECT_NE(why_not(text).find("it has no version"), std::string::npos) << text;
}

TEST(NodeJson, WrongFieldsAreNamedByTheirPlace) {
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(why_not_with([](json& d) { d.erase("generation"); }), "generation: it is missing");
    has(why_not_with([](json& d) { d["gpus"] = 1; }), "gpus: it is not a list");
    has(why_not_with([](json& d) { d["gpus"][1] = 1; }), "gpus[1]: it is not an object");
    has(why_not_with([](json& d) { d["gpus"][1].erase("uuid"); }), "gpus[1].uuid: it is missing");
    has(why_not_with([](json& d) { d["gpus"][1]["uuid"] = "x"; }),
        "gpus[1].uuid: it is not of the form GPU-");
    has(why_not_with([](json& d) { d["gpus"][0]["policy"] = "best"; }), "gpus[0].policy: ");
    has(why_not_with([](json& d) { d["gpus"][0]["index"] = -1; }), "gpus[0].index: it is not a whole number");
    has(why_not_with([](json& d) { d["gpus"][0]["index"] = 1ULL << 32; }), "gpus[0].index: it is too large");
    has(why_not_with([](json& d) { d["gpus"][0]["present"] = "yes"; }),
        "gpus[0].present: it is not true or false");
    has(why_not_with([](json& d) { d["instances"][0]["id"] = "../x"; }), "instances[0].id: ");
    has(why_not_with([](json& d) { d["instances"][0]["mode"] = "all"; }), "instances[0].mode: ");
    has(why_not_with([](json& d) { d["instances"][0]["quotas"][1]["weight"] = 1.5; }),
        "instances[0].quotas[1].weight: it is not a whole number");
    has(why_not_with([](json& d) { d["instances"][0]["attached"]["pid"] = 1ULL << 31; }),
        "instances[0].attached.pid: it is too large");
    has(why_not_with([](json& d) { d["instances"][0]["attached"] = 7; }),
        "instances[0].attached: it is not an object");
    has(why_not_with([](json& d) { d["surprise"] = 7; }), "\"surprise\" is unknown");
    has(why_not_with([](json& d) { d["instances"][0]["quotas"][0]["surprise"] = 7; }),
        "instances[0].quotas[0]: ");
}

TEST(NodeJson, AStateThatBreaksTheRulesOfANodeIsRefused) {
    EXPECT_NE(why_not_with([](json& d) { d["gpus"][0]["max_inst"] = 26; }).find("contradicts itself"),
              std::string::npos);
    EXPECT_NE(why_not_with([](json& d) {
                  d["instances"][1]["quotas"][0]["weight"] = 99;
              }).find("contradicts itself"),
              std::string::npos);
}

RC_GTEST_PROP(NodeJson, ADamagedByteNeverCrashes, ()) {
    std::string text = write_node(full_node());
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto node = read_node(text);
    if (!node) RC_ASSERT(!node.error().why.empty() && !node.error().remedy.empty());
}

}  // namespace
}  // namespace cgpu::store
