#pragma once

#include <string>

#include "client/node/values/examination.hpp"
#include "client/node/values/snapshot.hpp"
#include "dbus/json/view_json.hpp"

/// The output of --json. Keys are stable; units are bytes, seconds, shares of 0..1. What is in a reading is
/// written as cgpud writes it (view::to_json).
namespace cgpu::cgpuctl {

using view::Json;
using view::to_json;

[[nodiscard]] Json to_json(const client::DriverLimits& limits);
/// In the form of an instance; `gpus` are the node's.
[[nodiscard]] Json to_json(const client::UnmanagedContainer& container, const std::vector<client::Gpu>& gpus);

/// With line breaks. Bytes that are not UTF-8 are written as U+FFFD.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace cgpu::cgpuctl
