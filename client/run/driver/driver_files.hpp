#pragma once

#include <sys/types.h>

#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/run/driver/driver_library.hpp"
#include "client/run/driver/library_folders.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::client {

/// The driver: first libcuda.so.1, then libnvidia-ml.so.1 if it exists, then those to hide:
/// libnvidia-opencl.so.1, which contains a driver of its own and doesn't use libcuda, and the 32-bit forms of
/// all three. The real file is the one that a program with this environment loads. Copies that images ship in
/// other folders, those that were mounted at other paths below the root, and the same files where other
/// mounts show them, are among the files.
///
/// What a file is decides, not by which link it was found: a shared library of the driver
/// (machine_of_driver()) whose own name is a driver's. All else is left out. On a host, what is shipped
/// counts only if root alone can write to it, all the way up. Errors: no libcuda where the loader looks
/// (failed); more files or folders than can be covered, or a library of the driver by another name, which
/// would be a way round the front (refused).
[[nodiscard]] Result<Driver> find_driver(const Root& root, const LoaderEnvironment& environment,
                                         Place place = Place::host);

/// The files of a driver to which only a user's environment leads, and which belong to that user. `system`:
/// the libraries that find_driver() found without that environment. To be called with the user's rights.
/// Errors (refused): LD_LIBRARY_PATH leads to a library of the driver that is neither the system's nor the
/// user's, or has another name; more files or folders than can be covered.
[[nodiscard]] Result<Driver> find_copies(const Root& root, const LoaderEnvironment& environment,
                                         const std::vector<DriverLibrary>& system, uid_t user);

/// The files of all of them.
[[nodiscard]] std::vector<FileId> ids_of(const std::vector<DriverLibrary>& libraries);

}  // namespace cgpu::client
