#pragma once

#include <cstdint>
#include <string>

#include "client/node/values/client_error.hpp"
#include "core/model/bytes.hpp"

/// Parsers of values on the command line. Errors are of kind usage.
namespace cgpu::cgpuctl {

/// A whole number in decimal digits.
[[nodiscard]] client::Result<std::uint32_t> read_count(const std::string& what, const std::string& text);
/// The same, of more digits.
[[nodiscard]] client::Result<std::uint64_t> read_number(const std::string& what, const std::string& text);
/// As model::parse_size.
[[nodiscard]] client::Result<model::Bytes> read_size(const std::string& what, const std::string& text);

}  // namespace cgpu::cgpuctl
