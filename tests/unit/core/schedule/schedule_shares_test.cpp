// The error of shares, in points of the GPU, under the exact policies. The time is virtual, so the figures
// are the same in every run.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_scale.hpp"

namespace cgpu::schedule::sim {
namespace {

using cgpu::model::Policy;

struct Kernels {
    const char* name;
    std::vector<Nanos> first, others;
};
const std::vector<Nanos> kMixed = {10 * kMicro, kMilli, 50 * kMicro, 20 * kMilli, 200 * kMicro, 3 * kMilli};
const std::vector<Kernels> kKernels = {
    {"10us", {10 * kMicro}, {10 * kMicro}}, {"1ms", {kMilli}, {kMilli}},
    {"20ms", {20 * kMilli}, {20 * kMilli}}, {"mixed", kMixed, kMixed},
    {"10us_1ms", {10 * kMicro}, {kMilli}},  {"10us_20ms", {10 * kMicro}, {20 * kMilli}},
    {"1ms_20ms", {kMilli}, {20 * kMilli}},  {"mixed_10us", kMixed, {10 * kMicro}},
    {"mixed_1ms", kMixed, {kMilli}},
};

struct Weights {
    const char* name;
    std::vector<int> each;
};
const std::vector<Weights> kWeights = {{"1to1", {1, 1}},
                                       {"1to2", {1, 2}},
                                       {"2to18", {2, 18}},
                                       {"1to2to5", {1, 2, 5}},
                                       {"25x1", std::vector<int>(25, 1)}};

struct Outcome {
    double error = 0;  // worst of the tenants, points
    double busy = 0;
};

double due(Policy policy, const std::vector<int>& weights, std::size_t i, int max_inst) {
    const int sum = std::accumulate(weights.begin(), weights.end(), 0);
    if (policy == Policy::weighted || policy == Policy::proportional)
        return static_cast<double>(weights[i]) / sum;
    if (policy == Policy::fixed) return static_cast<double>(weights[i]) / max_inst;
    return 1.0 / static_cast<double>(weights.size());
}

Outcome run(Policy policy, const Latency& latency, const std::vector<Workload>& work,
            const std::vector<int>& weights, Nanos duration, int max_inst = 20) {
    Settings settings;
    settings.policy = policy;
    settings.max_inst = std::max(max_inst, static_cast<int>(weights.size()));
    World world(settings, latency);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        Tenant tenant;
        tenant.work = work[std::min(i, work.size() - 1)];
        tenant.weight = weights[i];
        world.add(tenant);
    }
    world.run_for(duration * test_scale());
    Outcome out;
    out.busy = world.busy();
    // A cap is a part of the time; the shares of other policies are parts of the work done.
    const double whole = policy == Policy::fixed ? 1.0 : out.busy;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double off = world.share(i) / whole - due(policy, weights, i, settings.max_inst);
        out.error = std::max(out.error, std::abs(off) * 100);
    }
    return out;
}

using Cell = std::tuple<Policy, bool, Kernels, Weights>;
class Shares : public testing::TestWithParam<Cell> {};

TEST_P(Shares, AreKeptToThePoint) {
    const auto& [policy, noisy, kernels, weights] = GetParam();
    std::vector<Workload> work(2);
    work[0].kernels = kernels.first;
    work[1].kernels = kernels.others;
    work[0].jitter = work[1].jitter = 0.1;
    const Outcome got = run(policy, noisy ? kNoisy : kQuiet, work, weights.each, 10 * kSecond);
    RecordProperty("error_points", std::to_string(got.error));
    RecordProperty("busy", std::to_string(got.busy));
    EXPECT_LE(got.error, 1.0);
    // Weighted also keeps everything busy here, because all tenants always have work. On a noisy host a gate
    // is seen open 60 µs late in the median, and occasionally a millisecond late: a hundredth and more of 5
    // ms turns.
    if (policy != Policy::fixed) {
        EXPECT_GE(got.busy, noisy ? 0.965 : 0.97);
    }
}

std::string cell_name(const testing::TestParamInfo<Cell>& cell) {
    const auto& [policy, noisy, kernels, weights] = cell.param;
    return std::string(to_string(policy)) + (noisy ? "_noisy_" : "_quiet_") + kernels.name + "_" +
           weights.name;
}

INSTANTIATE_TEST_SUITE_P(Cells, Shares,
                         testing::Combine(testing::Values(Policy::preemptive, Policy::weighted, Policy::fixed,
                                                          Policy::proportional),
                                          testing::Bool(), testing::ValuesIn(kKernels),
                                          testing::ValuesIn(kWeights)),
                         cell_name);

TEST(HardShares, OnAHostWithoutFreeCores) {
    // A tenant that is woken late must not lose the part of its turn by which it was late: the lighter one
    // would lose most.
    for (const Nanos kernel : {100 * kMicro, kMilli, 5 * kMilli}) {
        Workload work;
        work.kernels = {kernel};
        for (const auto& weights : {std::vector<int>{1, 2}, std::vector<int>{1, 9}, std::vector<int>{1, 1}}) {
            const Outcome got = run(Policy::weighted, kStarved, {work}, weights, 20 * kSecond);
            std::printf("%ld us, 1:%d: error %.2f busy %.3f\n", kernel / 1000, weights[1], got.error,
                        got.busy);
            EXPECT_LE(got.error, 2.0) << kernel << " ns, 1 to " << weights[1];
        }
    }
}

TEST(HardShares, KernelsAsLongAsAPeriod) {
    // The error of one kernel more or less is 100 ms: 0.17 points over 60 s.
    Workload work;
    work.kernels = {100 * kMilli};
    for (const Policy policy : {Policy::preemptive, Policy::weighted, Policy::fixed, Policy::proportional}) {
        const Outcome got = run(policy, kQuiet, {work}, {1, 2}, 60 * kSecond);
        EXPECT_LE(got.error, 0.5) << to_string(policy);
    }
}

// Found as 38 to 62 where the target was 1 to 2: debts beyond a period were dropped.
TEST(HardShares, KernelsLongerThanAPeriod) {
    // A period of 3 slices is 15 ms. A kernel of 200 ms or more is not waited for: the overlap is known less
    // well.
    for (const auto& [length, bar] : {std::pair{40 * kMilli, 0.5}, std::pair{100 * kMilli, 0.5},
                                      std::pair{300 * kMilli, 1.0}, std::pair{700 * kMilli, 2.5}}) {
        std::vector<Workload> work(2);
        work[0].kernels = {length};
        for (const Nanos other : {length, kMilli, 30 * kMilli}) {
            work[1].kernels = {other};
            for (const auto& weights : {std::vector<int>{1, 2}, std::vector<int>{2, 1}}) {
                if (few_runs() && (weights[0] > weights[1]) != (other < length)) continue;
                for (const Policy policy :
                     {Policy::preemptive, Policy::weighted, Policy::fixed, Policy::proportional}) {
                    // Each wants the GPU only when its kernel is done, and then the other's runs, longer than
                    // it is waited for. Nobody is held who alone wants the GPU, so they alternate.
                    const bool alternate = other == length && length > DrainTuning().longest;
                    if (policy == Policy::proportional && alternate) continue;
                    const Outcome got = run(policy, kQuiet, work, weights, 240 * kSecond, 3);
                    EXPECT_LE(got.error, bar) << to_string(policy) << " " << length << " " << other << " "
                                              << weights[0] << ":" << weights[1];
                }
            }
        }
    }
}

TEST(HardShares, AFunctionThatSometimesTakesAThousandTimesAsLong) {
    // No estimate is right for it, so its drain is exceeded and the overlap is known only within bounds.
    for (const Nanos rare : {5 * kMilli, 20 * kMilli, 100 * kMilli}) {
        std::vector<Workload> work(2);
        work[0].kernels = {100 * kMicro};
        work[0].rare_permille = 5;
        work[0].rare = rare;
        work[1].kernels = {kMilli};
        for (const Policy policy : {Policy::preemptive, Policy::weighted, Policy::proportional}) {
            const Outcome got = run(policy, kNoisy, work, {1, 2}, 60 * kSecond);
            EXPECT_LE(got.error, 3.0) << to_string(policy) << " " << rare;
            EXPECT_GE(got.busy, 0.965) << to_string(policy) << " " << rare;
        }
    }
}

TEST(HardShares, AnInstanceOfSeveralProcesses) {
    // Charged by wall time: the driver's switches between its own processes are the instance's own loss.
    for (const Nanos kernel : {10 * kMicro, kMilli, 20 * kMilli}) {
        for (const Policy policy :
             {Policy::preemptive, Policy::weighted, Policy::fixed, Policy::proportional}) {
            Settings settings;
            settings.policy = policy;
            World world(settings);
            Tenant several;
            several.work.kernels = {kernel};
            several.processes = 3;
            Tenant one;
            one.work.kernels = {kMilli};
            one.weight = 2;
            world.add(several);
            world.add(one);
            world.run_for(10 * kSecond);
            const double whole = policy == Policy::fixed ? 1.0 : world.busy();
            EXPECT_NEAR(world.share(0) / whole, due(policy, {1, 2}, 0, 20), 0.015) << kernel;
            EXPECT_NEAR(world.share(1) / whole, due(policy, {1, 2}, 1, 20), 0.015) << kernel;
        }
    }
}

}  // namespace
}  // namespace cgpu::schedule::sim
