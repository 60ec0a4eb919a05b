#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// How a front exports a function of the driver for which it has no hook. The functions of a driver are known
/// only where the front is mounted. So a front is built with two sections for them: one of "stubs", pieces of
/// code of one size that each jump to an address of a table; and one of free space, in which fit_exports()
/// puts symbols and names for as many stubs as the driver has functions.
namespace cgpu::elf {

constexpr const char* kRoomSection = ".cgpu.exports";
constexpr const char* kStubSection = ".cgpu.stubs";

/// The header of the room. As built, `used` is 0; as fitted, an array of that many std::uint32_t follows: the
/// offset of the name of each stub's function, NUL-terminated, in bytes from the room's start.
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
