#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "tests/unit/core/support/said_once.hpp"

/// Nodes, GPUs and instances in one line each.
namespace cgpu::test {

inline model::Uuid uuid(std::uint8_t n) {
    model::Uuid::Raw raw{};
    raw.fill(n);
    return model::Uuid(raw);
}

inline model::InstanceId id(const std::string& text) { return model::InstanceId::parse(text).value(); }

inline model::Sighting gpu(std::uint8_t n, std::uint64_t mib, model::GpuSettings settings = {}) {
    return {{uuid(n), n, "Tesla V100-SXM2-16GB", model::Bytes::from_mib(mib), ""}, settings};
}

inline model::Node node(const std::vector<model::Sighting>& gpus) {
    model::Node node;
    EXPECT_TRUE(node.sync_gpus(gpus).has_value());
    return node;
}

/// GPU 0 of 16130 MiB (a V100) with the default settings.
inline model::Node v100() { return node({gpu(0, 16130)}); }

inline model::Quota quota(std::uint8_t gpu, std::uint64_t mib, std::uint32_t weight = 1) {
    return {uuid(gpu), model::Bytes::from_mib(mib), weight, false, false};
}

/// A percentage of the compute, as slices of a GPU with 20 of them.
inline model::Quota quota_of_percent(std::uint8_t gpu, std::uint64_t mib, std::uint32_t percent) {
    model::Quota its = quota(gpu, mib, percent * 20 / 100);
    its.percent = percent;
    return its;
}

inline model::Instance instance(const std::string& name, std::vector<model::Quota> quotas,
                                model::Mode mode = model::Mode::memory_compute) {
    return {id(name), name, 0, 1700000000, mode, std::move(quotas), std::nullopt};
}

/// The refusal's reason, or a failed test.
template <typename T>
model::Refusal::Reason reason_of(const tl::expected<T, model::Refusal>& result) {
    EXPECT_FALSE(result.has_value());
    return result ? model::Refusal::Reason::invalid : result.error().reason;
}

template <typename T>
std::string text_of(const tl::expected<T, model::Refusal>& result) {
    EXPECT_FALSE(result.has_value());
    return result ? "" : result.error().text;
}

/// `what: why. Try: remedy.` on one line of printable ASCII.
inline void expect_well_formed(const model::Refusal& refusal) {
    const std::string& text = refusal.text;
    EXPECT_NE(text.find(": "), std::string::npos) << text;
    EXPECT_NE(text.find(". Try: "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with('.')) << text;
    EXPECT_FALSE(text.ends_with("..")) << text;
    for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << text;
    expect_said_once(text);
}

}  // namespace cgpu::test
