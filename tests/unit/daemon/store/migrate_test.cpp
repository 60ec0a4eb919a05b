#include "daemon/store/migrate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/store/state_json.hpp"
#include "tests/unit/daemon/store/editable.hpp"
#include "tests/unit/daemon/store/saved_nodes.hpp"

/// A state of an older version is brought to the present one, step by step. The steps here are made up,
/// because the oldest version that is read is the present one.
namespace cgpu::store {
namespace {

using nlohmann::json;

constexpr std::array kSteps = {
    Migration{2, [](json& document) { document["trace"] = document["trace"].get<std::string>() + "2"; }},
    Migration{1, [](json& document) { document["trace"] = "1"; }},
};

TEST(Migrate, TakesOneStepAfterAnother) {
    json document = {{"version", 1}};
    EXPECT_TRUE(migrate(document, 1, {1, 3, kSteps}));
    EXPECT_EQ(document["trace"], "12");
    EXPECT_EQ(document["version"], 3);
}

TEST(Migrate, TakesNoStepWhereTheVersionIsTheSame) {
    json document = {{"version", 3}};
    EXPECT_TRUE(migrate(document, 3, {1, 3, kSteps}));
    EXPECT_FALSE(document.contains("trace"));
}

TEST(Migrate, SaysThatAStepIsMissing) {
    json document = {{"version", 1}};
    EXPECT_FALSE(migrate(document, 1, {1, 4, kSteps}));
}

TEST(Migrate, TakesNothingThatIsOlderThanTheOldest) {
    json document = {{"version", 1}};
    EXPECT_FALSE(migrate(document, 1, {2, 3, kSteps}));
    EXPECT_EQ(document, (json{{"version", 1}}));
}

TEST(Migrate, EveryOlderVersionHasItsStep) {
    const Layouts& today = Layouts::today();
    EXPECT_EQ(today.newest, kStateVersion);
    for (std::uint64_t version = today.oldest; version < today.newest; ++version) {
        std::size_t steps = 0;
        for (const Migration& migration : today.steps) steps += migration.from == version ? 1 : 0;
        EXPECT_EQ(steps, 1U) << version;
    }
}

// A later cgpud: the layout after the present one says of each GPU where it is.
constexpr std::uint64_t kNext = kStateVersion + 1;
constexpr std::array kToNext = {Migration{kStateVersion, [](json& document) {
                                              for (json& gpu : document["gpus"])
                                                  gpu["obstacle"] = "in slot 1";
                                          }}};
constexpr Layouts kLater{kStateVersion, kNext, kToNext};

TEST(Migrate, ALaterCgpudReadsThePresentState) {
    const State state{test::full_node(), {}};
    const auto read = read_state(write_state(state), kLater);
    ASSERT_TRUE(read.has_value()) << read.error().why;
    EXPECT_EQ(read->node.instances(), state.node.instances());
    ASSERT_FALSE(read->node.gpus().empty());
    for (const auto& gpu : read->node.gpus()) EXPECT_EQ(gpu.obstacle, "in slot 1");
}

TEST(Migrate, ThePresentCgpudRefusesTheStateOfALaterOneWhichReadsItWithoutAStep) {
    const State state{test::full_node(), {}};
    json document = editable(state);
    document["version"] = kNext;
    const auto later = read_state(document.dump(), kLater);
    ASSERT_TRUE(later.has_value()) << later.error().why;
    EXPECT_EQ(later->node, state.node);
    const auto present = read_state(document.dump());
    ASSERT_FALSE(present.has_value());
    EXPECT_EQ(present.error().why, "it is of version " + std::to_string(kNext) +
                                       " and this cgpud knows versions up to " +
                                       std::to_string(kStateVersion));
    EXPECT_NE(present.error().remedy.find("newer cgpud"), std::string::npos) << present.error().remedy;
}

TEST(Migrate, WhatIsOlderThanTheOldestIsRefused) {
    json document = editable({test::full_node(), {}});
    for (const Layouts& layouts : {Layouts::today(), kLater}) {
        document["version"] = layouts.oldest - 1;
        const auto read = read_state(document.dump(), layouts);
        ASSERT_FALSE(read.has_value());
        EXPECT_EQ(read.error().why,
                  "it is of version " + std::to_string(layouts.oldest - 1) + ", which is not known");
        EXPECT_NE(read.error().remedy.find("move it away"), std::string::npos) << read.error().remedy;
    }
}

}  // namespace
}  // namespace cgpu::store
