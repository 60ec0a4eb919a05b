#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

/// The machine that this program is built for, in uname's form.
[[nodiscard]] std::string_view this_machine();

/// Why the loader could not load an image of `size` bytes as a shared library on this machine; empty if it
/// could: an ELF file of 64 bits, little endian, for this machine, of type ET_DYN, with all segments inside.
/// As symbols.hpp does, it trusts nothing in the image.
[[nodiscard]] std::optional<std::string> why_not_loadable(const ReadAt& image, std::uint64_t size);

}  // namespace cgpu::elf
