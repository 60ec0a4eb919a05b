#pragma once

#include <string>
#include <vector>

#include "client/run/driver/driver_files.hpp"
#include "client/run/driver/library_folders.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::enter {

/// A file of the driver that only the caller's environment leads to, such as a copy in a conda environment,
/// and that the caller owns.
struct Copy {
    std::string cover;         ///< what is mounted over it: client::cover_of()
    client::LibraryFile file;  ///< with symbolic links resolved

    friend bool operator==(const Copy&, const Copy&) = default;
};

/// The caller's copies that are not among the system's files. Looked up with the caller's rights. Errors: as
/// find_copies(), and failed if the rights can't be changed.
[[nodiscard]] client::Result<std::vector<Copy>> own_copies(const client::Root& root,
                                                           const client::LoaderEnvironment& environment,
                                                           const std::vector<client::DriverLibrary>& system);

/// Mounts the system's fronts (an empty file over those to hide) over the copies, in this mount namespace.
/// The fronts are those that put_fronts_before() made. Error (refused): a copy has been exchanged since it
/// was found, or isn't the caller's any more.
[[nodiscard]] client::Result<void> cover(const std::vector<Copy>& copies, const client::Root& root);

}  // namespace cgpu::enter
