#pragma once

#include <string>
#include <vector>

#include "client/run/files/same_file.hpp"

namespace cgpu::client {

/// A file of the driver, as it was when it was found. Whoever mounts over the path compares the file that is
/// there with the id.
struct LibraryFile {
    std::string path;  ///< as seen from the root, with symbolic links resolved
    FileId id;

    friend bool operator==(const LibraryFile&, const LibraryFile&) = default;
};

/// One library of the driver on the system.
struct DriverLibrary {
    std::string soname;              ///< libcuda.so.1
    LibraryFile real;                ///< the file that the loader finds for it
    std::vector<LibraryFile> files;  ///< every file it may be loaded from, `real` among them, each path once
    /// Programs would reach the GPU by it without the fronts, so instances don't get it: an empty file covers
    /// it.
    bool hidden = false;
};

struct Driver {
    std::vector<DriverLibrary> libraries;
    /// Sentences (`what: why. Try: …`) about files of a driver that are not covered, and why: what a shipped
    /// folder of a host has, and is neither root's alone nor the caller's. A few of them.
    std::vector<std::string> uncovered;
};

}  // namespace cgpu::client
