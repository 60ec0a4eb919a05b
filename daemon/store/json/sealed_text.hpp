#pragma once

#include <string>
#include <string_view>

namespace cgpu::store {

/// The last field of a sealed document: eight hexadecimal digits, the CRC-32C of all of the text before the
/// comma that precedes it.
inline constexpr const char* kChecksum = "checksum";

/// Adds the checksum to the text of a JSON object that ends with a line of its own.
[[nodiscard]] std::string sealed(std::string text);

enum class Seal {
    none,  ///< no checksum where sealed() puts it
    whole,
    broken,
};
[[nodiscard]] Seal seal_of(std::string_view text);

}  // namespace cgpu::store
