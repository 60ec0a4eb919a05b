#pragma once

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

struct FittedExports {
    std::vector<std::byte> image;  ///< of the front's size
    /// False: an older front, without room for functions that it has no hook for. Programs must find those in
    /// the driver's own file, on which the front depends by its path.
    bool has_all = false;
};

/// The front with the exports of this driver, because programs test by dlsym what a driver can do:
///   - hooks for functions that the driver lacks become weak and undefined: their names find nothing;
///   - each function that only the driver has is exported as one of the front's stubs (export_room.hpp).
/// Exports of the driver that are not functions are left out. Errors: either image is corrupt; the driver has
/// more functions than the front has room for.
tl::expected<FittedExports, std::string> fit_exports(std::vector<std::byte> front, const Exports& driver);

}  // namespace cgpu::elf
