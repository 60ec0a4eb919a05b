#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

/// The machine that this program is built for, as uname says it.
[[nodiscard]] std::string_view this_machine();

/// Why an image of `size` bytes is no shared library that the loader could take on this machine; nothing
/// where it is one: an ELF file of 64 bits, little endian, for this machine, of type ET_DYN, all of whose
/// segments lie within it. As symbols.hpp: it trusts nothing in the image.
[[nodiscard]] std::optional<std::string> why_not_loadable(const ReadAt& image, std::uint64_t size);

}  // namespace cgpu::elf
