#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cgpu::model {

/// Where a card is on the PCI bus.
struct PciAddress {
    std::uint32_t domain = 0;
    std::uint32_t bus = 0;
    std::uint32_t device = 0;

    /// `00000000:3B:00.0` as NVIDIA's programs write it, `0000:3b:00.0` as Linux does, and `3b:00.0`. Without
    /// a domain the function (`.0`) is needed: `0:1` is NVIDIA's name of a MIG instance. Null: it is none.
    [[nodiscard]] static std::optional<PciAddress> parse(std::string_view text);
    /// `00000000:3B:00.0`
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(const PciAddress&, const PciAddress&) = default;
};

}  // namespace cgpu::model
