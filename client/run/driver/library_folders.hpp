#pragma once

#include <string>
#include <vector>

#include "client/run/files/root.hpp"

namespace cgpu::client {

/// The part of a program's environment that names library folders.
struct LoaderEnvironment {
    std::string library_path;  ///< LD_LIBRARY_PATH; entries that are not absolute are left out
    std::string conda_prefix;  ///< CONDA_PREFIX; empty: none
};

/// Where the loader finds libraries. Paths are as seen from the root, with links resolved, each once. They
/// are compared by path, not by inode, because a mount over a file of a folder does not cover that file where
/// the folder is mounted a second time. Missing folders are left out.
struct LibraryFolders {
    std::vector<std::string> own;         ///< of LD_LIBRARY_PATH
    std::vector<std::string> usual;       ///< the system's and NVIDIA's container folders
    std::vector<std::string> configured;  ///< of /etc/ld.so.conf and the files it includes

    friend bool operator==(const LibraryFolders&, const LibraryFolders&) = default;
};

/// Error (refused): there are more folders than any system has, so one may be hidden among them.
[[nodiscard]] Result<LibraryFolders> library_folders(const Root& root, const LoaderEnvironment& environment);

/// Whose files are below a root.
enum class Place {
    host,       ///< of all users of a machine, so a folder that some user may write to decides nothing
    container,  ///< of one container, which they can only harm itself
};

/// Where installations and images ship a driver of their own, for CUDA's forward compatibility, which
/// programs find by LD_LIBRARY_PATH or a path of their own: /usr/local/cuda*/compat and the folders in it
/// (NVIDIA's cuda-compat packages; NGC's images have it in compat/lib.real), and cuda-compat in conda's
/// environments. Each folder is in one of the lists.
struct ShippedFolders {
    std::vector<std::string> shipped;   ///< on a host: those that root alone can write to
    std::vector<std::string> doubtful;  ///< on a host: a few of the others, as named; they may be of any size
    std::vector<std::string> claimed;   ///< those that CONDA_PREFIX names

    friend bool operator==(const ShippedFolders&, const ShippedFolders&) = default;
};

/// Error: as above.
[[nodiscard]] Result<ShippedFolders> shipped_driver_folders(const Root& root,
                                                            const LoaderEnvironment& environment,
                                                            Place place);

}  // namespace cgpu::client
