#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/view/limits.hpp"
#include "core/view/snapshot.hpp"

/// What Describe and DescribeGpus of org.cgpu1.Manager answer.
namespace cgpu::view {

/// In ASCII: names may have bytes that a string of the bus can't have.
[[nodiscard]] std::string node_text(Snapshot node);

/// The GPUs alone, without figures of usage: of each its gpu_text().
[[nodiscard]] std::string gpus_text(const std::vector<std::string>& gpus);
[[nodiscard]] std::string gpu_text(const Gpu& gpu);

/// What DescribeLimits answers.
[[nodiscard]] std::string limits_text(const Limits& limits);
/// Error: why the text isn't that.
[[nodiscard]] tl::expected<Limits, std::string> read_limits_text(const std::string& text);

/// Reads both. GPUs and instances are sorted as Snapshot says. Error: why the text isn't that of a node.
[[nodiscard]] tl::expected<Snapshot, std::string> read_node_text(const std::string& text);

}  // namespace cgpu::view
