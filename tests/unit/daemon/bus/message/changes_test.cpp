#include "daemon/bus/message/changes.hpp"

#include <gtest/gtest.h>

namespace cgpu::bus {
namespace {

using sdbus::Variant;

std::string refusal_of(const std::vector<OptionMap>& given) {
    const auto read = read_changes(given);
    EXPECT_FALSE(read);
    return read ? "" : read.error().text;
}

TEST(Changes, AreReadWithAllTheirKeys) {
    const auto read = read_changes({{{"gpu", Variant(std::string("0"))},
                                     {"policy", Variant(std::string("2"))},
                                     {"max-inst", Variant(20U)},
                                     {"prio-ratio", Variant(80U)}},
                                    {{"instance", Variant(std::string("web"))},
                                     {"gpu", Variant(std::string("1"))},
                                     {"memory-limit", Variant(std::uint64_t{1} << 33)},
                                     {"weight", Variant(4U)},
                                     {"high-priority", Variant(true)}}});
    ASSERT_TRUE(read) << read.error().text;
    const auto& gpu = std::get<app::GpuChange>(read->at(0));
    EXPECT_EQ(gpu.gpu, "0");
    EXPECT_EQ(gpu.policy, "2");
    EXPECT_EQ(gpu.max_inst, 20U);
    EXPECT_EQ(gpu.prio_ratio, 80U);
    const auto& quota = std::get<app::QuotaChange>(read->at(1));
    EXPECT_EQ(std::get<std::string>(quota.instance), "web");
    EXPECT_EQ(quota.gpu, "1");
    EXPECT_EQ(quota.memory_limit, model::Bytes(std::uint64_t{1} << 33));
    EXPECT_EQ(quota.weight, 4U);
    EXPECT_EQ(quota.high_priority, true);
}

TEST(Changes, DrainsAndPauses) {
    const auto read = read_changes({{{"gpu", Variant(std::string("0"))}, {"drained", Variant(false)}},
                                    {{"instance", Variant(std::string("web"))}, {"paused", Variant(true)}}});
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(std::get<app::GpuChange>(read->at(0)).drained, false);
    EXPECT_EQ(std::get<app::QuotaChange>(read->at(1)).paused, true);
    EXPECT_STREQ(method_of({read->at(0)}), "SetDrained");
    EXPECT_STREQ(method_of({read->at(1)}), "SetPaused");
    EXPECT_EQ(refusal_of({{{"gpu", Variant(std::string("0"))}, {"drained", Variant(1U)}}}),
              "change 1: key \"drained\": its type is u. Try: give it as b.");
}

TEST(Changes, ARevertIsOfAGpuOrOfAnInstance) {
    const auto read = read_changes({{{"gpu", Variant(std::string("0"))}, {"revert", Variant(true)}},
                                    {{"instance", Variant(std::string("web"))}, {"revert", Variant(true)}},
                                    {{"gpu", Variant(std::string("0"))}, {"revert", Variant(false)}}});
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_TRUE(std::get<app::GpuChange>(read->at(0)).revert);
    EXPECT_TRUE(std::get<app::QuotaChange>(read->at(1)).revert);
    EXPECT_FALSE(std::get<app::GpuChange>(read->at(2)).revert);
    EXPECT_EQ(refusal_of({{{"gpu", Variant(std::string("0"))}, {"revert", Variant(std::string("yes"))}}}),
              "change 1: key \"revert\": its type is s. Try: give it as b.");
}

TEST(Changes, WhatIsWrongIsSaidByNumberAndKey) {
    const OptionMap good = {{"gpu", Variant(std::string("0"))}, {"max-inst", Variant(20U)}};
    EXPECT_EQ(refusal_of({good, {{"weight", Variant(4U)}}}),
              "change 2: it names nothing to change. Try: give it the key gpu or the key instance.");
    EXPECT_EQ(refusal_of({{{"gpu", Variant(std::string("0"))}, {"weight", Variant(4U)}}}),
              "change 1: key \"weight\": a change of this kind doesn't have it. Try: use one of gpu, policy, "
              "max-inst, "
              "prio-ratio, drained, revert.");
    EXPECT_EQ(
        refusal_of({good, {{"instance", Variant(std::string("a"))}, {"weight", Variant(std::int32_t{4})}}}),
        "change 2: key \"weight\": its type is i. Try: give it as u.");
    EXPECT_EQ(refusal_of({{{"gpu", Variant(0U)}, {"max-inst", Variant(20U)}}}),
              "change 1: key \"gpu\": its type is u. Try: give it as s.");
    EXPECT_TRUE(read_changes({})->empty());
}

TEST(Options, AGenerationIsReadWhereChangesOfTheNodeAreMade) {
    const auto read = read_options({{"if-generation", Variant(std::uint64_t{7})}});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->if_generation, 7U);
    EXPECT_FALSE(read_options({{"if-generation", Variant(7U)}}));
    EXPECT_FALSE(read_job_options({{"if-generation", Variant(std::uint64_t{7})}}, upgrade::Kind::hot));
}

TEST(Options, OfANewInstanceHaveItsImage) {
    const auto read =
        read_create_options({{"image", Variant(std::string("train:1"))}, {"dry-run", Variant(true)}});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->origin.image, "train:1");
    EXPECT_TRUE(read->options.dry_run);
    EXPECT_FALSE(read_create_options({{"image", Variant(7U)}}));
    EXPECT_FALSE(read_create_options({{"images", Variant(std::string("train:1"))}}));
    EXPECT_TRUE(read_create_options({{"image", Variant(std::string(512, 'x'))}}));
    const auto refused = read_create_options({{"image", Variant(std::string(513, 'x'))}});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().text.starts_with("option \"image\": it has more than 512 bytes"))
        << refused.error().text;
    EXPECT_FALSE(read_options({{"image", Variant(std::string("train:1"))}})) << "of another change";
}

TEST(Options, OfANewInstanceSayThatItsPartIsHeld) {
    const Variant token(std::string(32, 'a'));
    const auto usual = read_create_options({{"reserve", token}});
    ASSERT_TRUE(usual);
    ASSERT_TRUE(usual->hold);
    EXPECT_EQ(usual->hold->token, std::string(32, 'a'));
    EXPECT_EQ(usual->hold->seconds, 600U);
    const auto longer = read_create_options({{"reserve", token}, {"hold", Variant(std::uint64_t{7200})}});
    ASSERT_TRUE(longer);
    EXPECT_EQ(longer->hold->seconds, 7200U);
    EXPECT_FALSE(read_create_options({{"reserve", token}, {"hold", Variant(7200U)}}));
    EXPECT_FALSE(read_create_options({{"reserve", Variant(true)}}));
    const auto alone = read_create_options({{"hold", Variant(std::uint64_t{7200})}});
    ASSERT_FALSE(alone);
    EXPECT_NE(alone.error().text.find("no reservation is asked for"), std::string::npos);
    EXPECT_FALSE(read_create_options({})->hold);
}

TEST(Options, RuntimeIsOfGpusTheNodeAndTheMode) {
    const app::Result<app::Options> read = read_options({{"runtime", Variant(true)}}, {.runtime = true});
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->runtime);
    EXPECT_FALSE(read_options({{"runtime", Variant(true)}})) << "of an instance";
    const auto mode = read_job_options({{"runtime", Variant(true)}}, upgrade::Kind::mode);
    ASSERT_TRUE(mode);
    EXPECT_TRUE(mode->until_reboot);
    EXPECT_FALSE(read_job_options({{"runtime", Variant(true)}}, upgrade::Kind::cold));
    EXPECT_TRUE(is_dry_run({{"dry-run", Variant(true)}}));
    const std::vector<OptionMap> others = {{}, {{"dry-run", Variant(false)}}, {{"dry-run", Variant(1U)}}};
    for (const OptionMap& each : others) EXPECT_FALSE(is_dry_run(each));
}

}  // namespace
}  // namespace cgpu::bus
