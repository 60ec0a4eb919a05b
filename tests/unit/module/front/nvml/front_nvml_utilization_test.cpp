// The utilisation that a managed process sees.
#include "tests/unit/module/front/support/front_nvml.hpp"

namespace {

using namespace cgpu::front::nvml;

class NvmlUtilization : public NvmlFront {
  protected:
    int ask(int card) {
        return nvml<int(Device, Rates*)>("nvmlDeviceGetUtilizationRates")(cards_[card], &rates_);
    }
    /// The daemon's word gets into the page between two questions.
    bool shows(unsigned gpu, unsigned memory) {
        return ask(0) == kSuccess && rates_.gpu == gpu && rates_.memory == memory;
    }

    Rates rates_{};
};

TEST_F(NvmlUtilization, IsTheInstancesShareOfTheTime) {
    daemon().achieved_share = 1 + 251;
    ASSERT_TRUE(eventually([&] { return shows(25, 25); })) << rates_.gpu << ' ' << rates_.memory;
    daemon().achieved_share = 1;
    EXPECT_TRUE(eventually([&] { return shows(0, 0); })) << rates_.gpu;
    daemon().achieved_share = 1 + 1000;
    EXPECT_TRUE(eventually([&] { return shows(100, 50); })) << rates_.gpu << ' ' << rates_.memory;
}

TEST_F(NvmlUtilization, IsTheCardsIfNobodyMeasuresTheInstances) {
    ASSERT_EQ(ask(0), kSuccess);
    EXPECT_EQ(rates_.gpu, 80U);
    EXPECT_EQ(rates_.memory, 50U);
}

TEST_F(NvmlUtilization, OfOtherCardsIsNotShown) {
    EXPECT_EQ(ask(1), kNotSupported);
    EXPECT_EQ(rates_.gpu, 0U);
    take_daemon_down();
    rates_ = {1, 1};
    EXPECT_EQ(ask(0), kUnknown);
    EXPECT_EQ(rates_.gpu, 0U);
}

TEST_F(NvmlUtilization, BeforeInitTheDriversCodeIsTheAnswer) {
    ASSERT_EQ(nvml<int()>("nvmlShutdown")(), kSuccess);
    EXPECT_EQ(ask(0), kUninitialized);
    EXPECT_EQ(ask(1), kUninitialized);
}

}  // namespace
