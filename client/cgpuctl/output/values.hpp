#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/node/values/client_error.hpp"
#include "core/model/bytes.hpp"

/// Parsers of values on the command line. Errors are of kind usage.
namespace cgpu::cgpuctl {

/// A whole number in decimal digits.
[[nodiscard]] client::Result<std::uint32_t> read_count(const std::string& what, const std::string& text);
/// The same from `least` to `most`: what the contract allows on any GPU.
[[nodiscard]] client::Result<std::uint32_t> read_count_in(const std::string& what, const std::string& text,
                                                          std::uint32_t least, std::uint32_t most);
/// The same as read_count(), of more digits.
[[nodiscard]] client::Result<std::uint64_t> read_number(const std::string& what, const std::string& text);
/// A weight in slices (`4`; 0 means a pause) or as a percentage of the compute (`25%`): one of the two is
/// set.
struct Weight {
    std::optional<std::uint32_t> slices;
    std::optional<std::uint32_t> percent;
};
[[nodiscard]] client::Result<Weight> read_weight(const std::string& text);
/// As model::parse_size.
[[nodiscard]] client::Result<model::Bytes> read_size(const std::string& what, const std::string& text);

}  // namespace cgpu::cgpuctl
