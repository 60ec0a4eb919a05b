#include "daemon/bus/message/examined.hpp"

#include <gtest/gtest.h>

namespace cgpu::bus {
namespace {

using Facts = std::map<std::string, sdbus::Variant>;

const app::Folders kFolders{"/state", "/run", "/module"};
const model::Uuid kGpu = *model::Uuid::parse("GPU-c09d11f5-a565-1f83-903c-a65a7ba138af");

TEST(Examined, EveryProcessOfTheDriver) {
    const auto facts = facts_of(
        kFolders, app::ExaminedDriver{"580.65.06", {{kGpu, false, {{12, 4096}}}, {kGpu, std::nullopt, {}}}});
    EXPECT_EQ(facts.at("state-dir").get<std::string>(), "/state");
    EXPECT_EQ(facts.at("runtime-dir").get<std::string>(), "/run");
    EXPECT_EQ(facts.at("module-dir").get<std::string>(), "/module");
    EXPECT_EQ(facts.at("driver-version").get<std::string>(), "580.65.06");
    EXPECT_FALSE(facts.contains("driver-error"));
    const auto gpus = facts.at("gpus").get<std::vector<Facts>>();
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[0].at("uuid").get<std::string>(), kGpu.to_string());
    EXPECT_FALSE(gpus[0].at("persistence").get<bool>());
    EXPECT_FALSE(gpus[1].contains("persistence"));
    const auto processes =
        gpus[0].at("processes").get<std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>>>();
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].get<0>(), 12U);
    EXPECT_EQ(processes[0].get<1>(), 4096U);
}

TEST(Examined, LimitsThatTheDriverCouldEnforce) {
    using Backend = app::DriverLimits::Backend;
    const auto facts = facts_of(
        kFolders, app::ExaminedDriver{"615.10.01",
                                      {{kGpu, true, {}, {Backend::dmem, "", model::Bytes(4096)}},
                                       {kGpu, true, {}, {Backend::misc, "", std::nullopt}},
                                       {kGpu, true, {}, {Backend::none, "it is too old", std::nullopt}}}});
    const auto gpus = facts.at("gpus").get<std::vector<Facts>>();
    ASSERT_EQ(gpus.size(), 3U);
    EXPECT_EQ(gpus[0].at("driver-limits").get<std::string>(), "dmem");
    EXPECT_EQ(gpus[0].at("driver-limits-own").get<std::uint64_t>(), 4096U);
    EXPECT_FALSE(gpus[0].contains("driver-limits-why"));
    EXPECT_EQ(gpus[1].at("driver-limits").get<std::string>(), "misc");
    EXPECT_FALSE(gpus[1].contains("driver-limits-own"));
    EXPECT_EQ(gpus[2].at("driver-limits").get<std::string>(), "none");
    EXPECT_EQ(gpus[2].at("driver-limits-why").get<std::string>(), "it is too old");
}

TEST(Examined, ADriverThatDoesNotAnswer) {
    const auto facts =
        facts_of(kFolders, model::refuse(model::Refusal::Reason::unsupported, "GPUs", "none", "nvidia-smi"));
    EXPECT_EQ(facts.at("state-dir").get<std::string>(), "/state");
    EXPECT_NE(facts.at("driver-error").get<std::string>().find("Try: nvidia-smi"), std::string::npos);
    EXPECT_FALSE(facts.contains("gpus"));
}

}  // namespace
}  // namespace cgpu::bus
