#pragma once

#include "core/elf/symbols.hpp"

namespace cgpu::elf {

struct FittedExports {
    std::vector<std::byte> image;  ///< of the front's size
    /// False: an older front, without room for functions that it has no hook for. Those must be found in the
    /// driver's own file, which it depends on by its path.
    bool has_all = false;
};

/// The front with the exports of this driver, because programs probe by dlsym what a driver can do:
///   - hooks for functions that the driver lacks become weak and undefined: nothing is found by their names;
///   - each function that only the driver has is exported as one of the front's stubs (export_room.hpp).
/// What the driver exports that is no function stays out. Errors: either image is corrupt; the driver has
/// more functions than the front has room for.
tl::expected<FittedExports, std::string> fit_exports(std::span<const std::byte> front, const Exports& driver);

}  // namespace cgpu::elf
