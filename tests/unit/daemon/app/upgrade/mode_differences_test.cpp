#include "daemon/app/upgrade/mode_differences.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::app::test {
namespace {

using model::Mode;

std::vector<ModeDifference> differences(Mode configured, std::optional<Mode> switched) {
    return mode_differences(cgpu::test::v100(), configured, switched,
                            [=](const model::SeenGpu&) { return configured; });
}

TEST(ModeDifferences, NoneWhereTheConfigurationIsInForce) {
    EXPECT_TRUE(differences(Mode::memory_compute, std::nullopt).empty());
    EXPECT_TRUE(differences(Mode::none, Mode::none).empty()) << "whatever the GPU had at first";
}

TEST(ModeDifferences, ASwitchedModeWinsOverTheConfiguration) {
    const auto found = differences(Mode::memory, Mode::none);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text,
              "mode: the configuration says memory, and the node was switched to none, which wins. Try: "
              "cgpuctl set-mode configured, or mode: none in /etc/cgpu/cgpud.yaml.");
    EXPECT_FALSE(found[0].about.gpu_index);
}

TEST(ModeDifferences, AGpuKeepsWhatItHadAtFirst) {
    const auto found = differences(Mode::none, std::nullopt);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(
        found[0].text.find("the configuration says mode none, and it keeps memory+compute from when it was "
                           "first seen. Try: cgpuctl set-mode configured"),
        std::string::npos)
        << found[0].text;
    EXPECT_EQ(found[0].about.gpu_index, 0U);
}

TEST(ModeDifferences, AGpuThatIsConfiguredByItselfIsSwitchedToo) {
    const auto found = mode_differences(cgpu::test::v100(), Mode::none, Mode::none,
                                        [](const model::SeenGpu&) { return Mode::memory; });
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].text.find("mode memory, and it keeps none, which the node was switched to"),
              std::string::npos)
        << found[0].text;
}

}  // namespace
}  // namespace cgpu::app::test
