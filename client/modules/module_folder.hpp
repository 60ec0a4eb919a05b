#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "bundle/root_owned_file.hpp"
#include "client/node/values/client_error.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// The folder with the installed versions of the module, locked against changes by other processes. A version
/// is added or removed by one rename, so that readers see all of it or nothing. Unfinished versions are in a
/// folder of their own beside the others, with a name that is no version. It is removed with this object;
/// leftovers of a killed process are removed by the next one.
class ModuleFolder {
  public:
    /// Error: not_authorized (not root), try_again (another process changes it), or as bundle::RootOwnedFile
    /// refuses the folder.
    [[nodiscard]] static Result<ModuleFolder> lock(const std::filesystem::path& folder);

    ModuleFolder(ModuleFolder&& other) noexcept = default;
    ModuleFolder& operator=(ModuleFolder&& other) = delete;
    ~ModuleFolder();

    /// The path of a version's folder, whether or not it exists.
    [[nodiscard]] std::filesystem::path of(const upgrade::Version& version) const;
    /// The folder in which new versions are assembled.
    [[nodiscard]] const std::filesystem::path& workplace() const { return workplace_; }

    /// Error: refused (this version exists already).
    [[nodiscard]] Result<void> check_free(const upgrade::Version& version) const;
    /// Moves this version's folder, which is completely on the disk, from the workplace to its place. Error:
    /// refused (it exists already), failed.
    [[nodiscard]] Result<void> put(const upgrade::Version& version);
    /// Error: failed.
    [[nodiscard]] Result<void> take_away(const upgrade::Version& version);

  private:
    ModuleFolder(bundle::RootOwnedFile folder, std::filesystem::path workplace)
        : folder_(std::move(folder)), workplace_(std::move(workplace)) {}
    [[nodiscard]] Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to);

    bundle::RootOwnedFile folder_;     ///< locked as long as it is open
    std::filesystem::path workplace_;  ///< empty in one that was moved from
};

}  // namespace cgpu::client
