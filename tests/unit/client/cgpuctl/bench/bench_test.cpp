#include <gtest/gtest.h>
#include <poll.h>

#include "client/cgpuctl/bench/bench.hpp"
#include "client/cgpuctl/bench/bench_tenant.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

using Samples = std::vector<BenchTenant::Sample>;
constexpr std::int64_t kSecond = 1'000'000'000;

TEST(BenchRate, IsOfTheSamplesWithinTheWindow) {
    const Samples samples{{1 * kSecond, 100}, {2 * kSecond, 300}, {4 * kSecond, 1300}, {5 * kSecond, 9999}};
    EXPECT_EQ(rate(samples, 1 * kSecond + 1, 5 * kSecond - 1), 500);
    EXPECT_EQ(rate(samples, 1 * kSecond, 2 * kSecond), 200);
    EXPECT_EQ(rate(samples, 2 * kSecond + 1, 5 * kSecond - 1), std::nullopt) << "one sample tells nothing";
    EXPECT_EQ(rate(samples, 6 * kSecond, 9 * kSecond), std::nullopt);
    EXPECT_EQ(rate({}, 0, kSecond), std::nullopt);
}

TEST(BenchTenant, TakesWhatItsProgramSays) {
    const std::string says =
        "echo nonsense; echo ready; echo 1000 7; echo 12 x; echo; printf '2000 '; echo $NUMBER";
    auto tenant = BenchTenant::start({"/bin/sh", "-c", says}, {"NUMBER=9"});
    ASSERT_TRUE(tenant) << tenant.error().text;
    EXPECT_FALSE(tenant->ready());
    pollfd output{tenant->output(), POLLIN, 0};
    while (tenant->read()) ASSERT_GT(poll(&output, 1, 10'000), 0);
    EXPECT_TRUE(tenant->ready());
    ASSERT_EQ(tenant->samples().size(), 2U);
    EXPECT_EQ(tenant->samples()[0].kernels, 7U);
    EXPECT_EQ(tenant->samples()[1].at_ns, 2000);
    EXPECT_EQ(tenant->samples()[1].kernels, 9U);
}

TEST(BenchTenant, SaysWhatCantBeStarted) {
    const auto tenant = BenchTenant::start({"/nowhere/to/be/found"}, {});
    ASSERT_FALSE(tenant);
    EXPECT_EQ(tenant.error().text,
              "/nowhere/to/be/found: No such file or directory. Try: install cgpu again.");
}

TEST(Bench, NonsenseIsRefusedBeforeAnythingIsStarted) {
    for (const auto& [weights, seconds, kernel_us, memory] :
         {std::tuple{"0", "", "", ""}, std::tuple{"1:", "", "", ""}, std::tuple{"1:26", "", "", ""},
          std::tuple{"1", "0", "", ""}, std::tuple{"1", "3601", "", ""}, std::tuple{"1", "", "0", ""},
          std::tuple{"1", "", "", "much"}}) {
        FakeNode node;
        Screen screen;
        auto terminal = screen.terminal();
        BenchInput input;
        input.gpu = "0";
        input.weights = weights;
        input.seconds = seconds;
        input.kernel_us = kernel_us;
        input.memory = memory;
        const auto done = bench(input, node, terminal);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::usage) << done.error().text;
        EXPECT_TRUE(node.calls.empty());
    }
}

}  // namespace
}  // namespace cgpu::cgpuctl
