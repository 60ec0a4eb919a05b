#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cgpu::upgrade {

/// A version of the module: `1.2.3`. Each part is at most 255, because fronts and engines send theirs as one
/// number (wire::Hello::front_version, the engine's table).
struct Version {
    std::uint16_t major = 0;
    std::uint16_t minor = 0;
    std::uint16_t patch = 0;

    /// Three decimal numbers of 0..255 without leading zeros, so that every version has exactly one name: it
    /// is also the name of a folder.
    [[nodiscard]] static std::optional<Version> parse(std::string_view text);
    /// The reverse of packed(); bits beyond the three parts are ignored.
    [[nodiscard]] static Version unpack(std::uint32_t packed);

    [[nodiscard]] std::string str() const;
    /// major << 16 | minor << 8 | patch; sorts as the versions do.
    [[nodiscard]] std::uint32_t packed() const;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const Version&, const Version&) = default;
};

}  // namespace cgpu::upgrade
