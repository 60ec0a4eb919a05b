#include "dbus/json/node_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <type_traits>

#include "dbus/json/view_json.hpp"

namespace cgpu::view {
namespace {

/// Fills every field with something else than its default.
class Filler {
  public:
    template <class T>
    void value(const char*, T& member) {
        fill(member);
    }
    template <class T>
    void seconds(const char*, T& nanoseconds) {
        fill(nanoseconds);
    }
    template <class T>
    void per_cent(const char*, T& cent) {
        cent = static_cast<std::uint32_t>(next() % 100 + 1);
    }
    void by_number(const char*, std::map<std::uint32_t, std::uint64_t>& all) {
        all = {{static_cast<std::uint32_t>(next()), next()}, {static_cast<std::uint32_t>(next()), next()}};
    }
    void waits(const char*, LaunchWaits& waits) {
        for (auto& count : waits.counts) count = next();
    }
    template <class T>
    void one(const char*, std::optional<T>& member) {
        fields(*this, member.emplace());
    }
    template <class T>
    void list(const char*, std::vector<T>& members) {
        members.resize(2);
        for (T& each : members) fields(*this, each);
    }
    template <class T>
    void merge(T& member) {
        fields(*this, member);
    }

  private:
    std::uint64_t next() { return ++last_ * 37; }
    template <class T>
    void fill(T& member) {
        if constexpr (std::is_same_v<T, bool>)
            member = !member;
        else if constexpr (std::is_arithmetic_v<T>)
            member = static_cast<T>(next());
    }
    void fill(std::string& member) { member = "text " + std::to_string(next()); }
    template <class T>
    void fill(std::optional<T>& member) {
        fill(member.emplace());
    }
    template <class T>
    void fill(std::vector<T>& members) {
        members.resize(2);
        for (T& each : members) fill(each);
    }
    template <class T>
    void fill(std::map<std::string, T>& members) {
        for (const char* key : {"a", "b"}) fill(members[key]);
    }

    std::uint64_t last_ = 0;
};

Snapshot filled() {
    Snapshot node;
    Filler filler;
    fields(filler, node);
    return node;
}

TEST(NodeText, IsReadBackWhole) {
    const Snapshot node = filled();
    const Json before = to_json(node);
    for (const auto& [key, value] : before.items()) EXPECT_NE(value, to_json(Snapshot{})[key]) << key;
    const auto read = read_node_text(node_text(node));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(to_json(*read), before);
    EXPECT_EQ(read->instances.at(1).gpus.at(1).usage.gpu_time,
              node.instances.at(1).gpus.at(1).usage.gpu_time);
    EXPECT_EQ(to_json(*read_node_text(node_text({}))), to_json(Snapshot{}));
}

TEST(NodeText, HasNamesOfAnyBytesAsAscii) {
    Snapshot node;
    node.instances.resize(1);
    node.instances[0].name = "\xff\x01\"\xc3\xa9";
    const std::string text = node_text(node);
    for (const char letter : text) ASSERT_TRUE(letter >= ' ' && letter <= '~') << text;
    EXPECT_EQ(read_node_text(text)->instances.at(0).name, "\xef\xbf\xbd\x01\"\xc3\xa9");
}

TEST(NodeText, WhatAnotherReleaseLacksStaysAsItIs) {
    const auto read = read_node_text(R"({"version":"9","gpus":[{"uuid":"GPU-1","new":{}}],"mode":null})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->version, "9");
    EXPECT_EQ(read->mode_source, "configuration");
    EXPECT_EQ(read->gpus.at(0).uuid, "GPU-1");
    EXPECT_TRUE(read->gpus.at(0).present);
}

TEST(NodeText, SaysWhyATextIsNoNode) {
    for (const char* text :
         {"", "{", "[]", "1", "null", R"({"version":1})", R"({"gpus":1})", R"({"gpus":[1]})",
          R"({"gpus":{"a":[]}})", R"({"job":"x"})", R"({"instances":[{"gpus":[{"launch_waits":[{}]}]}]})"}) {
        const auto read = read_node_text(text);
        ASSERT_FALSE(read) << text;
        EXPECT_FALSE(read.error().empty());
    }
}

TEST(NodeText, SortsAsASnapshotSays) {
    Snapshot node;
    node.gpus.resize(3);
    node.gpus[0].index = 1;
    node.gpus[1].present = false;
    node.gpus[2].index = 0;
    node.instances.resize(2);
    node.instances[0].created = 2;
    node.instances[1].created = 1;
    const auto read = read_node_text(node_text(node));
    EXPECT_EQ(read->gpus[0].index, 0U);
    EXPECT_FALSE(read->gpus[2].present);
    EXPECT_EQ(read->instances[0].created, 1U);
}

RC_GTEST_PROP(NodeText, TakesAnyText, (const std::string& text)) {
    static_cast<void>(read_node_text(text));
    static_cast<void>(read_node_text("{\"gpus\":" + text + "}"));
}

RC_GTEST_PROP(NodeText, ATruncatedOneIsNoNode, ()) {
    const std::string text = node_text(filled());
    const auto length = *rc::gen::inRange<std::size_t>(0, text.size());
    RC_ASSERT(!read_node_text(text.substr(0, length)));
}

TEST(NodeText, the_gpus_alone_have_all_but_their_usage) {
    Snapshot node;
    Filler filler;
    fields(filler, node);
    std::vector<std::string> texts;
    for (const auto& gpu : node.gpus) texts.push_back(gpu_text(gpu));
    const auto read = read_node_text(gpus_text(texts));
    ASSERT_TRUE(read) << read.error();
    EXPECT_TRUE(read->instances.empty());
    ASSERT_EQ(read->gpus.size(), node.gpus.size());
    const auto expected = read_node_text(node_text(node))->gpus;
    for (std::size_t each = 0; each < expected.size(); ++each) {
        Gpu without = expected[each];
        const Gpu none;
        without.memory_used = none.memory_used;
        without.memory_leased = none.memory_leased;
        without.memory_in_driver = none.memory_in_driver;
        without.memory_charged_then = none.memory_charged_then;
        without.xid_errors = none.xid_errors;
        without.last_xid = none.last_xid;
        without.strangers = none.strangers;
        without.strangers_process = none.strangers_process;
        EXPECT_EQ(to_json(read->gpus[each]), to_json(without));
    }
}

}  // namespace
}  // namespace cgpu::view
