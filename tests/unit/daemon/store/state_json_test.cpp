#include "daemon/store/state_json.hpp"
#include "daemon/store/migrate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/daemon/store/editable.hpp"
#include "tests/unit/daemon/store/saved_nodes.hpp"

/// A state that was written is read back; any other text is an error with its place.
namespace cgpu::store {
namespace {

using namespace cgpu::test;
using model::Node;
using nlohmann::json;

std::string why_not(const std::string& text) {
    const auto node = read_state(text);
    EXPECT_FALSE(node.has_value()) << text;
    return node ? "" : node.error().why;
}

/// The full node's JSON with one change.
template <typename Change>
std::string why_not_with(Change change) {
    json document = editable({full_node(), {}});
    change(document);
    return why_not(document.dump());
}

TEST(StateJson, RoundTrips) {
    for (const Node& node : {Node{}, v100(), full_node()}) {
        const auto read = read_state(write_state({node, {}}));
        ASSERT_TRUE(read.has_value()) << read.error().why;
        EXPECT_EQ(read->node, node);
    }
}

TEST(StateJson, AChecksumThatIsWrongIsSaidBeforeAnythingElse) {
    const auto whole = write_state({full_node(), {}});
    auto text = whole;
    const auto at = text.find("\"total_bytes\": ") + 15;
    text[at] = text[at] == '1' ? '2' : '1';
    const std::string wrong = "its checksum is not that of its content: it was damaged, or changed by hand";
    EXPECT_EQ(why_not(text), wrong);
    text = whole;
    text.replace(text.find("10"), 2, "99");
    EXPECT_EQ(why_not(text), wrong) << "a version that came by a wrong bit";
    text = whole;
    const auto digits = text.rfind("\"checksum\": \"") + 13;
    text[digits] = text[digits] == '0' ? '1' : '0';
    EXPECT_EQ(why_not(text), wrong);
    EXPECT_EQ(why_not(json::parse(whole).dump(4)), wrong) << "written anew by another program";
    EXPECT_EQ(read_state(text).error().kind, Unreadable::Kind::damaged);
    EXPECT_NE(read_state(text).error().remedy.find("remove its field checksum"), std::string::npos);
}

TEST(StateJson, WithoutAChecksumItIsTakenAsItIs) {
    json document = editable({full_node(), {}});
    const auto changed_by_hand = read_state(document.dump(4));
    ASSERT_TRUE(changed_by_hand) << changed_by_hand.error().why;
    EXPECT_EQ(changed_by_hand->node, full_node());
    document = editable({full_node(), {}});
    document["version"] = 9;
    for (json& gpu : document["gpus"]) gpu.erase("drained");
    for (json& made : document["instances"]) {
        made["owner"] = made["creator"];
        made.erase("creator");
        made.erase("declared_owner");
        for (json& quota : made["quotas"]) quota.erase("paused");
    }
    const auto of_1_0_0 = read_state(document.dump(4));
    ASSERT_TRUE(of_1_0_0) << of_1_0_0.error().why;
    EXPECT_EQ(of_1_0_0->node.find_gpu(uuid(1))->drained, false);
    const auto& user = *of_1_0_0->node.find_instance(*model::InstanceId::parse("012b2edccd7a0852"));
    EXPECT_EQ(user, *full_node().find_instance(user.id)) << "who made a job is whose it is";
    const auto& other = *of_1_0_0->node.find_instance(*model::InstanceId::parse("b"));
    EXPECT_EQ(other.owner, model::Owner{});
}

upgrade::Record full_record() {
    const upgrade::Version from{1, 2, 3};
    const upgrade::Version to{1, 3, 0};
    return {
        from, model::Mode::none,
        upgrade::Job{8, upgrade::Kind::cold, from, to, 60, 1234, "boot", true, true, "somebody \"said\" so"},
        upgrade::Ended{7, upgrade::Kind::hot, to, from, upgrade::Result::cancelled, "It was cancelled."},
        upgrade::ModeUntilReboot{"5f3a-boot", model::Mode::memory}};
}

TEST(StateJson, TheRecordOfUpgradesRoundTrips) {
    for (const auto& record : {upgrade::Record{}, full_record()}) {
        const auto read = read_state(write_state({v100(), record}));
        ASSERT_TRUE(read.has_value()) << read.error().why;
        EXPECT_EQ(read->record, record);
        EXPECT_EQ(read->node, v100());
    }
}

TEST(StateJson, ASwitchOfTheModeRoundTrips) {
    upgrade::Record record;
    record.in_force = upgrade::Version{1, 2, 3};
    record.job.emplace();
    record.job->kind = upgrade::Kind::mode;
    record.job->from = model::Mode::memory_compute;
    record.job->to = model::Mode::none;
    record.job->configured = record.job->until_reboot = true;
    record.mode_until_reboot = upgrade::ModeUntilReboot{"boot", std::nullopt};
    const auto read = read_state(write_state({v100(), record}));
    ASSERT_TRUE(read.has_value()) << read.error().why;
    EXPECT_EQ(read->record, record);
    json document = editable({v100(), record});
    document["upgrade"]["job"]["to"] = "1.2.3";
    EXPECT_EQ(why_not(document.dump()), "upgrade.job.to: it is not one of none, memory, memory+compute");
    document["upgrade"]["mode"] = "some";
    EXPECT_EQ(why_not(document.dump()), "upgrade.mode: it is not one of none, memory, memory+compute");
}

TEST(StateJson, ABootInWhichNothingWasSetUntilItsEndIsForgotten) {
    json document = editable({v100(), {}});
    document["until_reboot"] = {{"boot_id", "boot"}, {"gpus", json::array()}};
    const auto read = read_state(document.dump());
    ASSERT_TRUE(read.has_value()) << read.error().why;
    EXPECT_EQ(read->node, v100());
}

TEST(StateJson, WrongFieldsOfWhatEndsAreNamedByTheirPlace) {
    const auto why = [](const char* place, const json& value) {
        return why_not_with([&](json& document) { document[json::json_pointer(place)] = value; });
    };
    EXPECT_EQ(why("/until_reboot/gpus/0/max_inst", "x"),
              "until_reboot.gpus[0].max_inst: it is not a whole number");
    EXPECT_EQ(why("/until_reboot/surprise", 1), "until_reboot: \"surprise\" is unknown");
    EXPECT_EQ(why("/until_reboot/default_memory", 7), "until_reboot.default_memory: it is not an object");
    EXPECT_NE(why("/until_reboot/gpus/0/max_inst", 26).find("after a reboot is out of range"),
              std::string::npos);
    EXPECT_NE(why("/instances/0/quotas/1/admitted/memory_limit_bytes", 0).find("a memory limit of zero"),
              std::string::npos);
}

TEST(StateJson, WrongFieldsOfUpgradesAreNamedByTheirPlace) {
    const auto why = [](const char* part, const char* field, const json& value) {
        json document = editable({v100(), full_record()});
        document["upgrade"][part][field] = value;
        return why_not(document.dump());
    };
    EXPECT_EQ(why("job", "to", "1.2"), "upgrade.job.to: \"1.2\" is no version");
    EXPECT_EQ(why("job", "kind", "warm"), "upgrade.job.kind: \"warm\" is no kind of upgrade");
    EXPECT_EQ(why("job", "deadline_ns", 1ULL << 63), "upgrade.job.deadline_ns: it is too large");
    EXPECT_EQ(why("last", "result", "perhaps"), "upgrade.last.result: \"perhaps\" is no result");
    EXPECT_EQ(why("last", "surprise", 1), "upgrade.last: \"surprise\" is unknown");
}

TEST(StateJson, WrongFieldsOfWhatIsKeptAreNamedByTheirPlace) {
    const auto why = [](const char* field, const json& value) {
        return why_not_with([&](json& d) { d["kept"][1][field] = value; });
    };
    EXPECT_EQ(why("owner", -1), "kept[1].owner: it is not a whole number");
    EXPECT_EQ(why("priority", "middle"), "kept[1].priority: it is neither high nor normal, nor empty");
    EXPECT_EQ(why("surprise", 1), "kept[1]: \"surprise\" is unknown");
    EXPECT_NE(why("weight", 26).find("contradicts itself"), std::string::npos);
    EXPECT_NE(why("weight", 0).find("contradicts itself"), std::string::npos) << "nothing is kept then";
    EXPECT_EQ(why_not_with([](json& d) { d["kept"] = 1; }), "kept: it is not a list");
}

TEST(StateJson, ANameThatIsNoUtf8IsStillWritten) {
    Node node = v100();
    model::Instance odd = instance("a", {quota(0, 1)});
    odd.name = "\xff";
    ASSERT_TRUE(node.add_instance(odd).has_value());
    EXPECT_TRUE(read_state(write_state({node, {}})).has_value());
}

TEST(StateJson, CutOffAnywhereItIsAnError) {
    const std::string text = write_state({full_node(), {}});
    // The last byte is the newline after the document.
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {
        const auto node = read_state(std::string_view(text).substr(0, size));
        ASSERT_FALSE(node.has_value()) << size;
        if (size > 0) {
            ASSERT_NE(node.error().why.find("cut off"), std::string::npos) << size << node.error().why;
        }
    }
}

TEST(StateJson, BrokenJsonIsNamedByLineAndColumn) {
    EXPECT_EQ(why_not(""), "the file is empty");
    EXPECT_NE(why_not("{\n  \"version\": x\n}").find("line 2, column 14"), std::string::npos);
    EXPECT_NE(why_not("{} {}").find("line 1, column 4"), std::string::npos);
    EXPECT_NE(why_not(std::string(100000, '[')).find("line 1"), std::string::npos);
    EXPECT_NE(why_not(std::string("\0\0\0\0", 4)).find("line 1, column 1"), std::string::npos);
}

TEST(StateJson, ADefaultMemoryThatWasSetRoundTrips) {
    for (const auto bytes : {0ULL, 4ULL << 30}) {
        Node node = v100();
        EXPECT_EQ(node.set_default_memory(model::Bytes(bytes)), model::Change::changed);
        const auto read = read_state(write_state({node, {}}));
        ASSERT_TRUE(read.has_value()) << read.error().why;
        EXPECT_EQ(read->node, node);
    }
    json document = editable({v100(), {}});
    document["default_memory"] = {{"bytes", "4GiB"}};
    EXPECT_EQ(why_not(document.dump()).substr(0, 20), "default_memory.bytes");
}

TEST(StateJson, IsLaidOutAsOneDocumentInWhichAnEntryOfALongListIsALine) {
    for (const State& state : {State{full_node(), full_record()}, State{v100(), {}}}) {
        const std::string text = write_state(state);
        auto document = nlohmann::ordered_json::parse(text);
        std::string expected = text;
        for (const char* list : {"gpus", "instances", "kept"})
            for (const auto& entry : std::exchange(document[list], nlohmann::ordered_json::array())) {
                const std::string line = "\n    " + entry.dump(-1, ' ', true);
                ASSERT_NE(expected.find(line), std::string::npos) << line;
                expected.erase(expected.find(line), line.size());
                if (const auto at = expected.find(list); expected[expected.find('[', at) + 1] == ',')
                    expected.erase(expected.find('[', at) + 1, 1);
            }
        for (auto at = expected.find("[\n  ]"); at != std::string::npos; at = expected.find("[\n  ]"))
            expected.erase(at + 1, 3);
        EXPECT_EQ(document.dump(2, ' ', true) + "\n", expected);
    }
}

TEST(StateJson, AnotherVersionIsRefused) {
    const std::string next = std::to_string(kStateVersion + 1);
    const auto newer = read_state(R"({"version": )" + next + R"(, "something": "new"})");
    ASSERT_FALSE(newer.has_value());
    EXPECT_NE(newer.error().why.find("it is of version " + next + " and this cgpud knows versions up to " +
                                     std::to_string(kStateVersion)),
              std::string::npos);
    EXPECT_NE(newer.error().remedy.find("newer cgpud"), std::string::npos);
    EXPECT_NE(why_not(R"({"version": 0})").find("version 0, which is not known"), std::string::npos);
    for (const char* text : {"{}", "[]", "1", "null", R"({"version": "1"})", R"({"version": -1})"})
        EXPECT_NE(why_not(text).find("it has no version"), std::string::npos) << text;
}

// debian/cgpu.preinst reads these with sed.
TEST(StateJson, WhatThePackageReadsHasLinesOfItsOwn) {
    State state;
    state.record.in_force = upgrade::Version{1, 2, 3};
    const auto text = write_state(state);
    EXPECT_TRUE(text.starts_with("{\n  \"version\": " + std::to_string(kStateVersion) + ",\n")) << text;
    EXPECT_NE(text.find("\n  \"instances\": [],\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n    \"in_force\": \"1.2.3\""), std::string::npos) << text;
}

TEST(StateJson, WrongFieldsAreNamedByTheirPlace) {
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

TEST(StateJson, AStateThatBreaksTheRulesOfANodeIsRefused) {
    EXPECT_NE(why_not_with([](json& d) { d["gpus"][0]["max_inst"] = 26; }).find("contradicts itself"),
              std::string::npos);
    EXPECT_NE(why_not_with([](json& d) {
                  d["instances"][1]["quotas"][0]["weight"] = 99;
              }).find("contradicts itself"),
              std::string::npos);
    EXPECT_NE(why_not_with([](json& d) {
                  d["instances"][0]["quotas"][1]["percent"] = 50;
              }).find("contradicts itself"),
              std::string::npos);
}

RC_GTEST_PROP(StateJson, ADamagedByteNeverCrashes, ()) {
    std::string text = write_state({full_node(), {}});
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto node = read_state(text);
    if (!node) RC_ASSERT(!node.error().why.empty() && !node.error().remedy.empty());
}

TEST(StateJson, OnlySettingsAreSetByHand) {
    auto document = editable({full_node(), {}});
    document["gpus"][0]["by_hand"] = {"colour"};
    EXPECT_FALSE(read_state(document.dump()));
}

}  // namespace
}  // namespace cgpu::store
