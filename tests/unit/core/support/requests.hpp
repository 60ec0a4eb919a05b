#pragma once

#include <gtest/gtest.h>

#include "core/request/request.hpp"
#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::test {

/// A variable of each kind that a request reads.
inline const std::vector<std::string> kManagedVariables = {"ALIYUN_COM_GPU_MEM_CONTAINER",
                                                           "ALIYUN_COM_GPU_MEM_DEV",
                                                           "ALIYUN_COM_GPU_VISIBLE_DEVICES",
                                                           "ALIYUN_COM_GPU_SCHD_WEIGHT",
                                                           "ALIYUN_COM_GPU_HIGH_PRIO",
                                                           "NVIDIA_VISIBLE_DEVICES",
                                                           "CGPU_DISABLE",
                                                           "CGPU_MEM",
                                                           "CGPU_COMPUTE",
                                                           "CGPU_WEIGHT",
                                                           "CGPU_GPUS",
                                                           "CGPU_PRIO",
                                                           "CGPU_MODE",
                                                           "volcano.sh/gpu-mem.128Mi",
                                                           "volcano.sh/gpu-core.percentage",
                                                           "aliyun.com/gpu-mem",
                                                           "aliyun.com/gpu-count"};

/// The request in these variables, or a failed test.
inline request::Request request_in(const request::Variables& variables) {
    const auto parsed = request::parse_request(variables);
    EXPECT_TRUE(parsed.has_value()) << parsed.error().text;
    if (!parsed) return {};
    EXPECT_TRUE(parsed->has_value()) << "not managed";
    return parsed->value_or(request::Request{});
}

inline bool is_unmanaged(const request::Variables& variables) {
    const auto parsed = request::parse_request(variables);
    EXPECT_TRUE(parsed.has_value()) << parsed.error().text;
    return parsed && !parsed->has_value();
}

/// The text of the refusal, which must be well formed and name `name`.
inline std::string refusal_in(const request::Variables& variables, const std::string& name) {
    const auto parsed = request::parse_request(variables);
    EXPECT_FALSE(parsed.has_value()) << "accepted";
    if (parsed) return "";
    expect_well_formed(parsed.error());
    EXPECT_NE(parsed.error().text.find(name), std::string::npos) << parsed.error().text;
    return parsed.error().text;
}

inline std::vector<request::MemoryAsk> shares(const std::vector<std::uint64_t>& gib,
                                              std::optional<std::uint64_t> dev = std::nullopt) {
    std::vector<request::MemoryAsk> asks;
    asks.reserve(gib.size());
    for (const auto n : gib) asks.emplace_back(request::CardShare{n, dev});
    return asks;
}

inline std::vector<request::MemoryAsk> sizes(const std::vector<std::uint64_t>& mib) {
    std::vector<request::MemoryAsk> asks;
    asks.reserve(mib.size());
    for (const auto n : mib) asks.emplace_back(model::Bytes::from_mib(n));
    return asks;
}

}  // namespace cgpu::test
