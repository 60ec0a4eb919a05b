#pragma once

#include <elf.h>

#include <optional>
#include <string>

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

/// What a shared library says of itself.
struct LibraryIdentity {
    unsigned char elf_class = ELFCLASSNONE;  ///< ELFCLASS64 or ELFCLASS32
    Elf64_Half machine = EM_NONE;
    std::string soname;  ///< DT_SONAME; empty: it has none, or a longer one than kLongestSoname

    friend bool operator==(const LibraryIdentity&, const LibraryIdentity&) = default;
};

/// More characters than any library of the driver has in its name.
constexpr std::size_t kLongestSoname = 64;

/// Reads an image of 64 or 32 bits, little endian, as the dynamic loader does: by its program headers, not by
/// its sections, which a library needn't have. It trusts nothing in the image, and reads at most some hundred
/// KiB of it. Empty: the image is no shared library that the loader could use.
[[nodiscard]] std::optional<LibraryIdentity> identify_library(const ReadAt& image);

}  // namespace cgpu::elf
