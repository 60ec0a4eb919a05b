#include "daemon/store/migrate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace cgpu::store {
namespace {

using nlohmann::json;

constexpr std::array kSteps = {
    Migration{2, [](json& document) { document["trace"] = document["trace"].get<std::string>() + "2"; }},
    Migration{1, [](json& document) { document["trace"] = "1"; }},
};

TEST(Migrate, TakesOneStepAfterAnother) {
    json document = {{"version", 1}};
    EXPECT_TRUE(migrate(document, 1, 3, kSteps));
    EXPECT_EQ(document["trace"], "12");
    EXPECT_EQ(document["version"], 3);
}

TEST(Migrate, TakesNoStepWhereTheVersionIsTheSame) {
    json document = {{"version", 3}};
    EXPECT_TRUE(migrate(document, 3, 3, kSteps));
    EXPECT_FALSE(document.contains("trace"));
}

TEST(Migrate, SaysThatAStepIsMissing) {
    json document = {{"version", 0}};
    EXPECT_FALSE(migrate(document, 0, 3, kSteps));
}

TEST(Migrate, EveryOlderVersionHasItsStep) {
    for (std::uint64_t version = 1; version < kStateVersion; ++version) {
        std::size_t steps = 0;
        for (const Migration& migration : migrations()) steps += migration.from == version ? 1 : 0;
        EXPECT_EQ(steps, 1U) << version;
    }
}

}  // namespace
}  // namespace cgpu::store
