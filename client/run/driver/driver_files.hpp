#pragma once

#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/run/driver/library_folders.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::client {

/// One library of the driver on the system.
struct DriverLibrary {
    std::string soname;              ///< libcuda.so.1
    std::string real;                ///< the file that the loader finds for it, with symbolic links resolved
    std::vector<std::string> files;  ///< every file it may be loaded from, `real` among them, each path once
    /// Programs would reach the GPU by it without the fronts, so instances don't get it: an empty file covers
    /// it.
    bool hidden = false;
};

/// First libcuda.so.1, then libnvidia-ml.so.1 if it exists, then those to hide: libnvidia-opencl.so.1, which
/// contains a driver of its own and doesn't use libcuda, and the 32-bit forms of all three. The paths are as
/// seen from the root. The real file is the one that a program with this environment loads. Copies that
/// images ship in other folders, and those that were mounted at other paths below the root, are among the
/// files. Files for other machines and files that are not ELF are left out. Errors: no libcuda where the
/// loader looks (failed); more files or folders than can be covered (refused).
[[nodiscard]] Result<std::vector<DriverLibrary>> find_driver(const Root& root,
                                                             const LoaderEnvironment& environment);

/// The files of all of them.
[[nodiscard]] std::vector<std::string> files_of(const std::vector<DriverLibrary>& driver);

}  // namespace cgpu::client
