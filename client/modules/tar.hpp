#pragma once

#include <filesystem>
#include <string>

#include "client/node/values/client_error.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// Unpacks a bundle from a tar file (compressed or not; as GNU tar accepts it) into an empty folder of root,
/// and returns the bundle's folder there. The archive has one folder, whose name is the version. Only a
/// manifest and an engine are unpacked, as root's files that no other user can write, whatever the archive
/// says. Error: as bundle::RootOwnedFile refuses the tar file; refused (it is not such an archive), failed.
[[nodiscard]] Result<std::filesystem::path> unpack_bundle(const std::filesystem::path& tar,
                                                          const std::filesystem::path& into);

}  // namespace cgpu::client
