#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// How a front that has no hook for a function of the driver exports it all the same. Which functions a
/// driver has is known only where the front is mounted, so a front is built with two sections for them: one
/// of "stubs", pieces of code of one size that each jump to an address of a table; and one of empty room, in
/// which fit_exports() puts symbols and names for as many of the stubs as the driver has functions.
namespace cgpu::elf {

constexpr const char* kRoomSection = ".cgpu.exports";
constexpr const char* kStubSection = ".cgpu.stubs";

/// What the room begins with. As built, `used` is 0; as fitted, an array of that many std::uint32_t follows:
/// where the name of the function of each stub lies, NUL-terminated, in bytes from the room's start.
struct ExportRoom {
    std::array<char, 8> magic;
    std::uint32_t stub_bytes;  ///< of each
    std::uint32_t stubs;       ///< how many there are
    std::uint32_t used;
    std::uint32_t reserved;
};
static_assert(sizeof(ExportRoom) == 24);
constexpr std::array<char, 8> kRoomMagic = {'c', 'g', 'p', 'u', 'r', 'o', 'o', 'm'};

}  // namespace cgpu::elf
