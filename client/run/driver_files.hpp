#pragma once

#include <string>
#include <vector>

#include "client/node/client_error.hpp"
#include "client/run/root.hpp"

namespace cgpu::client {

/// One library of the driver as it lies on the system.
struct DriverLibrary {
    std::string soname;              ///< libcuda.so.1
    std::string real;                ///< the file that the loader finds for it, with symbolic links resolved
    std::vector<std::string> files;  ///< every file it may be loaded from, `real` among them, each path once
};

/// libcuda.so.1, and libnvidia-ml.so.1 where it is there. The paths are as seen from the root. The real one
/// is what a program with this LD_LIBRARY_PATH loads; copies that images ship elsewhere are among the files.
/// Files of another machine (32-bit ones) and what is no ELF file are left out. Error (failed): no libcuda
/// where the loader looks.
[[nodiscard]] Result<std::vector<DriverLibrary>> find_driver(const Root& root,
                                                             const std::string& library_path);

}  // namespace cgpu::client
