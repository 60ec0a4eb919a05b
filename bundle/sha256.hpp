#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cgpu::bundle {

/// SHA-256 as 64 hex digits in lower case.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace cgpu::bundle
