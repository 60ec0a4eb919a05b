#pragma once

#include <string>
#include <vector>

#include "client/run/files/root.hpp"

namespace cgpu::client {

/// What a program's environment says about where its libraries lie.
struct LoaderEnvironment {
    std::string library_path;  ///< LD_LIBRARY_PATH; entries that are not absolute are left out
    std::string conda_prefix;  ///< CONDA_PREFIX; empty: none
};

/// Where the loader finds libraries. As seen from the root, with links resolved, each once: by its path, not
/// by its inode, because what is mounted over a file of a folder does not cover that file where the folder is
/// mounted a second time. Folders that are not there are left out.
struct LibraryFolders {
    std::vector<std::string> own;         ///< of LD_LIBRARY_PATH
    std::vector<std::string> usual;       ///< the system's and NVIDIA's container folders
    std::vector<std::string> configured;  ///< of /etc/ld.so.conf and the files it includes

    friend bool operator==(const LibraryFolders&, const LibraryFolders&) = default;
};

/// Error (refused): there are more than any system has, so something tries to hide one among them.
[[nodiscard]] Result<LibraryFolders> library_folders(const Root& root, const LoaderEnvironment& environment);

/// Where images ship a driver of their own, for CUDA's forward compatibility, and programs come by it by an
/// LD_LIBRARY_PATH or a path of their own: /usr/local/cuda*/compat and the folders in it (NVIDIA's
/// cuda-compat packages; NGC's images have it in compat/lib.real), and cuda-compat in conda's environments.
/// Error: as above.
[[nodiscard]] Result<std::vector<std::string>> shipped_driver_folders(const Root& root,
                                                                      const LoaderEnvironment& environment);

}  // namespace cgpu::client
