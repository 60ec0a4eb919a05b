#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::model {

/// The name of a physical GPU, as NVML's nvmlDeviceGetUUID gives it.
class Uuid {
  public:
    using Raw = std::array<std::uint8_t, 16>;

    constexpr Uuid() = default;
    constexpr explicit Uuid(const Raw& raw) : raw_(raw) {}

    /// Reads `GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, hex digits in upper or lower case. Error: what is
    /// wrong, without the text itself. A `MIG-` name has a message of its own: MIG instances are not shared
    /// further.
    [[nodiscard]] static tl::expected<Uuid, std::string> parse(std::string_view text);

    /// The form that parse() reads, in lower case as NVML writes it.
    [[nodiscard]] std::string to_string() const;
    /// The 16 bytes in the order of the text, as CUDA's CUuuid has them.
    [[nodiscard]] constexpr const Raw& raw() const { return raw_; }

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;

  private:
    Raw raw_{};
};

}  // namespace cgpu::model
