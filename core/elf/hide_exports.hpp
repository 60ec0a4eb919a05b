#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

/// A front exports every hooked function, the real driver only those of its version. Programs probe by dlsym
/// what a driver can do, so before a front is put in place of a driver, what that driver lacks is hidden in
/// it. Both functions take ELF images of 64 bits, little endian, whole files, and trust nothing in them: a
/// corrupt image is an error with a sentence, never a read or write outside of it.
namespace cgpu::elf {

/// Names of the dynamic symbols that an image defines (functions and objects, global or weak).
tl::expected<std::set<std::string>, std::string> exported_symbols(std::span<const std::byte> image);

/// The front with those of its defined dynamic symbols made weak and undefined that are not in `present`. The
/// loader then looks further, in the real driver, and finds nothing there either. The image's size and layout
/// stay.
tl::expected<std::vector<std::byte>, std::string> hide_exports(std::span<const std::byte> front,
                                                               const std::set<std::string>& present);

}  // namespace cgpu::elf
