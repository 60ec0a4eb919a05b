#include "client/run/job/run_request.hpp"

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

using Kind = ClientError::Kind;

Variables asked(const RunFlags& flags, const Variables& environment) {
    const auto variables = request_variables(flags, environment);
    if (!variables) {
        ADD_FAILURE() << variables.error().text;
        return {};
    }
    return *variables;
}

ClientError refused(const RunFlags& flags, const Variables& environment) {
    const auto variables = request_variables(flags, environment);
    if (variables) {
        ADD_FAILURE() << "no error";
        return {};
    }
    return variables.error();
}

TEST(RunRequest, FlagsBecomeVariables) {
    EXPECT_EQ(asked({"4GiB", "", "", "", "high"}, {{"ALIYUN_COM_GPU_HIGH_PRIO", "0"}}),
              (Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_PRIO", "high"}}));
    EXPECT_EQ(asked({"4GiB", "2", "", "0,1", ""}, {}),
              (Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_WEIGHT", "2"}, {"CGPU_GPUS", "0,1"}}));
    EXPECT_EQ(asked({"4GiB", "", "25%", "", ""}, {}),
              (Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_COMPUTE", "25%"}}));
}

TEST(RunRequest, OnlyWhatAsksIsTakenFromTheEnvironment) {
    EXPECT_EQ(asked({}, {{"HOME", "/root"},
                         {"PATH", "/bin"},
                         {"ALIYUN_COM_GPU_MEM_CONTAINER", "3"},
                         {"ALIYUN_COM_GPU_MEM_DEV", "15"},
                         {"CGPU_WEIGHT", "2"},
                         {"NVIDIA_VISIBLE_DEVICES", "all"}}),
              (Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"},
                         {"ALIYUN_COM_GPU_MEM_DEV", "15"},
                         {"CGPU_WEIGHT", "2"},
                         {"NVIDIA_VISIBLE_DEVICES", "all"}}));
}

TEST(RunRequest, AFlagWinsOverEveryVariableOfItsMeaning) {
    EXPECT_EQ(
        asked({"4GiB", "5", "", "1", ""}, {{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"},
                                           {"ALIYUN_COM_GPU_MEM_DEV", "15"},
                                           {"CGPU_MEM", "1GiB"},
                                           {"ALIYUN_COM_GPU_SCHD_WEIGHT", "2"},
                                           {"CGPU_COMPUTE", "50%"},
                                           {"ALIYUN_COM_GPU_VISIBLE_DEVICES", "0"},
                                           {"NVIDIA_VISIBLE_DEVICES", "0"},
                                           {"CGPU_PRIO", "1"}}),
        (Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_WEIGHT", "5"}, {"CGPU_GPUS", "1"}, {"CGPU_PRIO", "1"}}));
    EXPECT_EQ(asked({"4GiB", "", "25%", "", ""}, {{"CGPU_WEIGHT", "3"}, {"ALIYUN_COM_GPU_SCHD_WEIGHT", "3"}}),
              (Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_COMPUTE", "25%"}}));
}

TEST(RunRequest, AFlagOverridesAZeroInTheEnvironment) {
    EXPECT_EQ(asked({"4GiB", "", "", "", ""}, {{"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}}),
              (Variables{{"CGPU_MEM", "4GiB"}}));
}

TEST(RunRequest, NothingAskedSaysWhatToGive) {
    for (const Variables& environment : {Variables{}, Variables{{"NVIDIA_VISIBLE_DEVICES", "all"}}}) {
        const ClientError error = refused({}, environment);
        EXPECT_EQ(error.kind, Kind::usage);
        EXPECT_NE(error.text.find("Try: --mem 4GiB."), std::string::npos) << error.text;
    }
}

TEST(RunRequest, WhatDeclinesManagementAsksForNothing) {
    for (const Variables& environment : {Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "0"}},
                                         Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "1,0"}},
                                         Variables{{"CGPU_MEM", "4GiB"}, {"CGPU_DISABLE", "1"}},
                                         Variables{{"CGPU_MEM", "0"}}, Variables{{"CGPU_DISABLE", "true"}}})
        EXPECT_TRUE(asked({}, environment).empty());
    EXPECT_TRUE(asked({"0", "", "", "", ""}, {}).empty());
    EXPECT_FALSE(asked({"4GiB", "", "", "", ""}, {{"CGPU_DISABLE", "0"}}).empty());
}

TEST(RunRequest, AFlagWithoutMemorySaysWhichFlagIsMissing) {
    const ClientError error = refused({"", "", "", "", "hihg"}, {});
    EXPECT_NE(error.text.find("Try: --mem 4GiB"), std::string::npos) << error.text;
    EXPECT_EQ(refused({"4GiB", "", "", "", "hihg"}, {}).text,
              "--prio \"hihg\": it is neither high nor normal. Try: 1 or high, 0 or normal.");
}

TEST(RunRequest, ATypoInTheEnvironmentIsNamed) {
    const auto asked = request_variables({}, {{"CGPU_MEMORY", "1GiB"}});
    ASSERT_FALSE(asked);
    EXPECT_NE(asked.error().text.find("Try: CGPU_MEM, or"), std::string::npos) << asked.error().text;
}

TEST(RunRequest, WeightAndComputeTogether) {
    EXPECT_EQ(refused({"4GiB", "2", "25%", "", ""}, {}).kind, Kind::usage);
}

TEST(RunRequest, AnErrorNamesTheFlagThatWasWritten) {
    const ClientError error = refused({"4", "", "", "", ""}, {});
    EXPECT_EQ(error.kind, Kind::usage);
    EXPECT_TRUE(error.text.starts_with("--mem ")) << error.text;
    EXPECT_TRUE(refused({}, {{"CGPU_MEM", "4"}}).text.starts_with("CGPU_MEM="));
}

}  // namespace
}  // namespace cgpu::client
