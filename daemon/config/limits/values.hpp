#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/size.hpp"

/// Values below `limits` and `profiles`, and those of others.
namespace cgpu::config {

/// Error: what is wrong with a value, without the value itself.
using Taken = tl::expected<void, std::string>;

/// Why an entry isn't taken, and what to write instead.
struct BadValue {
    std::string why;
    std::string remedy;
};

[[nodiscard]] inline tl::unexpected<BadValue> bad(std::string why, std::string remedy) {
    return tl::unexpected(BadValue{std::move(why), std::move(remedy)});
}

/// A value that is set: its path as in the file.
struct ShownValue {
    std::vector<std::string> path;
    std::string value;
};

/// `010` is eight in YAML 1.1, and ten in YAML 1.2.
[[nodiscard]] inline bool has_leading_zero(std::string_view text) {
    return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

constexpr const char* kLeadingZero = "it begins with a zero, by which YAML may mean an octal number";

[[nodiscard]] inline tl::expected<std::uint32_t, std::string> read_number(std::string_view text,
                                                                          std::uint32_t low,
                                                                          std::uint32_t high) {
    std::uint32_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (end != last || text.empty() || error == std::errc::invalid_argument)
        return tl::unexpected(std::string("it is not a whole number"));
    if (has_leading_zero(text)) return tl::unexpected(std::string(kLeadingZero));
    if (error != std::errc{} || value < low || value > high)
        return tl::unexpected(std::string("it is out of range"));
    return value;
}

[[nodiscard]] inline tl::expected<model::Bytes, std::string> read_size(std::string_view text) {
    if (has_leading_zero(text)) return tl::unexpected(std::string(kLeadingZero));
    return model::parse_size(text);
}

/// The number of `25%`, or of `25`.
[[nodiscard]] inline std::string_view without_percent(std::string_view text) {
    return text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace cgpu::config
