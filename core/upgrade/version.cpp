#include "core/upgrade/version.hpp"

#include <charconv>

namespace cgpu::upgrade {
namespace {

constexpr std::uint16_t kMaxPart = 255;

/// Removes one part from the front of `text`.
std::optional<std::uint16_t> take_part(std::string_view& text) {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || value > kMaxPart || (digits > 1 && text.front() == '0')) return std::nullopt;
    text.remove_prefix(digits);
    return value;
}

bool take_dot(std::string_view& text) {
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
    const auto major = take_part(text);
    if (!major || !take_dot(text)) return std::nullopt;
    const auto minor = take_part(text);
    if (!minor || !take_dot(text)) return std::nullopt;
    const auto patch = take_part(text);
    if (!patch || !text.empty()) return std::nullopt;
    return Version{*major, *minor, *patch};
}

Version Version::unpack(std::uint32_t packed) {
    const auto part = [packed](unsigned shift) {
        return static_cast<std::uint16_t>(packed >> shift & kMaxPart);
    };
    return {part(16), part(8), part(0)};
}

std::string Version::str() const {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::uint32_t Version::packed() const {
    return std::uint32_t{major} << 16 | std::uint32_t{minor} << 8 | std::uint32_t{patch};
}

}  // namespace cgpu::upgrade
