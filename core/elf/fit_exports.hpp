#pragma once

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

/// Gives the front the exports of this driver, in place, because programs test by dlsym what a driver can do:
///   - hooks for functions that the driver lacks become weak and undefined: their names find nothing;
///   - each function that only the driver has is exported as one of the front's stubs (export_room.hpp).
/// Exports of the driver that are not functions are left out. Errors, after which the image can't be used:
/// either image is corrupt, or `front` has no room for more exports, as a front has; the driver has more
/// functions than the front has room for.
tl::expected<void, std::string> fit_exports(std::span<std::byte> front, const Exports& driver);

}  // namespace cgpu::elf
