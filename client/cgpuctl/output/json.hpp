#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "client/node/values/examination.hpp"
#include "client/node/values/snapshot.hpp"

/// The output of --json. Keys are stable; units are bytes, seconds, shares of 0..1.
namespace cgpu::cgpuctl {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const client::Gpu& gpu);
[[nodiscard]] Json to_json(const client::DriverLimits& limits);
[[nodiscard]] Json to_json(const client::Instance& instance);
/// In the form of an instance; `gpus` are the node's.
[[nodiscard]] Json to_json(const client::UnmanagedContainer& container, const std::vector<client::Gpu>& gpus);
[[nodiscard]] Json to_json(const client::Job& job);
[[nodiscard]] Json to_json(const client::Kept& kept);

/// With line breaks. Bytes that are not UTF-8 are written as U+FFFD.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace cgpu::cgpuctl
