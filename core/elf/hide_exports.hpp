#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

/// A front exports every hooked function, the real driver only those of its version. Programs probe by dlsym
/// what a driver can do, so before a front is put in place of a driver, what that driver lacks is hidden in
/// it. Both functions take ELF images of 64 bits, little endian, and trust nothing in them: a corrupt image
/// is an error with a sentence, never a read or write outside of it.
namespace cgpu::elf {

/// Reads an image from `offset` on until `to` is full; false where it can't. A driver's file is large, and
/// only its headers and symbols are looked at.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// Of an image in memory, which must outlive the reader.
ReadAt reader(std::span<const std::byte> image);

/// Names of the dynamic symbols that an image defines (functions and objects, global or weak).
tl::expected<std::set<std::string>, std::string> exported_symbols(const ReadAt& image);

/// The front with those of its defined dynamic symbols made weak and undefined that are not in `present`. The
/// loader then looks further, in the real driver, and finds nothing there either. The image's size and layout
/// stay.
tl::expected<std::vector<std::byte>, std::string> hide_exports(std::span<const std::byte> front,
                                                               const std::set<std::string>& present);

}  // namespace cgpu::elf
