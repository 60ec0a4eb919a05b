#include "daemon/bus/usage/shared_usage.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::bus::test {
namespace {

using app::kMilli;

model::Uuid gpu() { return *model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000001"); }
model::InstanceId instance(const char* id) { return *model::InstanceId::parse(id); }

class SharedUsageTest : public testing::Test {
  protected:
    /// The gpu-time that a reader gets now.
    std::uint64_t time_of(const char* id) {
        const auto [usage, age] = shared_.usage();
        return usage.instances.at(instance(id)).at(gpu()).gpu_time;
    }
    app::InstanceUsage& works(const char* id) { return now_.instances[instance(id)][gpu()]; }

    app::test::FakeLoop loop_;
    app::NodeUsage now_;
    SharedUsage shared_{loop_, [this] { return now_; }};
};

TEST_F(SharedUsageTest, HoweverOftenItIsReadItChangesOnceASecond) {
    std::set<std::uint64_t> seen;
    for (int ms = 0; ms < 10'000; ++ms) {
        works("abc").gpu_time += 300'000;
        seen.insert(time_of("abc"));
        loop_.advance(kMilli);
    }
    EXPECT_GE(seen.size(), 10u);
    EXPECT_LE(seen.size(), 11u);
}

TEST_F(SharedUsageTest, WhoReadsOnceASecondGetsNewFiguresEachTime) {
    for (int second = 0; second < 20; ++second) {
        works("abc").gpu_time += 1000;
        const auto [usage, age] = shared_.usage();
        EXPECT_EQ(usage.instances.at(instance("abc")).at(gpu()).gpu_time, works("abc").gpu_time);
        EXPECT_EQ(age, 0);
        loop_.advance(app::kSecond);
    }
}

/// The figures and their age give the right rate, whenever two readers come.
TEST_F(SharedUsageTest, TheAgeSaysWhenTheFiguresWereTaken) {
    works("abc");
    for (int i = 0; i < 1000; ++i) {
        loop_.advance(7 * kMilli);
        works("abc").gpu_time = static_cast<std::uint64_t>(loop_.now()) / 2;  // half of the GPU
        const auto [usage, age] = shared_.usage();
        EXPECT_LT(age, SharedUsage::kRenewedAfter);
        EXPECT_EQ(usage.instances.at(instance("abc")).at(gpu()).gpu_time,
                  static_cast<std::uint64_t>(loop_.now() - age) / 2);
    }
}

TEST_F(SharedUsageTest, InstancesComeAndGoAndLimitsChangeAtOnce) {
    works("abc").gpu_time = 1;
    EXPECT_EQ(time_of("abc"), 1u);
    loop_.advance(kMilli);
    works("abc").memory_limit = 42;
    works("abc").gpu_time = 2;
    works("def").gpu_time = 5;
    now_.gpus[gpu()].xid_errors = 3;
    EXPECT_EQ(time_of("abc"), 1u);
    EXPECT_EQ(time_of("def"), 5u);
    works("def").gpu_time = 6;
    EXPECT_EQ(time_of("def"), 5u);
    const auto [usage, age] = shared_.usage();
    EXPECT_EQ(usage.instances.at(instance("abc")).at(gpu()).memory_limit, 42u);
    EXPECT_EQ(usage.gpus.at(gpu()).xid_errors, 3u);
    EXPECT_EQ(age, kMilli);
    now_.instances.erase(instance("abc"));
    EXPECT_EQ(shared_.usage().usage.instances.size(), 1u);
}

}  // namespace
}  // namespace cgpu::bus::test
