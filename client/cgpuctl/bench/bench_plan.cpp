#include "client/cgpuctl/bench/bench_plan.hpp"

#include <algorithm>

#include "client/cgpuctl/output/values.hpp"
#include "core/model/gpu.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr std::uint32_t kLongestSeconds = 3600;
constexpr std::uint32_t kLongestKernelUs = 1'000'000;

Result<std::uint32_t> bounded(const std::string& what, const std::string& text, std::uint32_t most) {
    auto count = read_count(what, text);
    if (count && (*count == 0 || *count > most))
        return client::fail(Kind::usage, what + " " + text + ": it is not within 1 to " +
                                             std::to_string(most) + ". Try: " + what + " 10.");
    return count;
}

}  // namespace

client::Result<BenchPlan> read_bench_plan(const BenchInput& input) {
    BenchPlan plan;
    const std::string weights = input.weights.empty() ? "1:2" : input.weights;
    for (std::size_t at = 0; at <= weights.size();) {
        const auto end = std::min(weights.find(':', at), weights.size());
        const auto weight = bounded("--weights", weights.substr(at, end - at), model::kMaxMaxInst);
        if (!weight) return tl::unexpected(weight.error());
        plan.weights.push_back(*weight);
        at = end + 1;
    }
    const auto seconds = bounded("--seconds", input.seconds.empty() ? "10" : input.seconds, kLongestSeconds);
    if (!seconds) return tl::unexpected(seconds.error());
    const auto kernel =
        bounded("--kernel-us", input.kernel_us.empty() ? "1000" : input.kernel_us, kLongestKernelUs);
    if (!kernel) return tl::unexpected(kernel.error());
    plan.memory = input.memory.empty() ? "1GiB" : input.memory;
    if (const auto size = read_size("--mem", plan.memory); !size) return tl::unexpected(size.error());
    plan.window = *seconds * model::kSecond;
    plan.kernel_us = *kernel;
    return plan;
}

}  // namespace cgpu::cgpuctl
