#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "bundle/file.hpp"
#include "client/node/client_error.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// The folder with the installed versions of the module, while this process alone changes it. A version is
/// put there or taken away by one rename, so that whoever looks finds all of it or nothing. What is not
/// finished lies in a folder of its own beside them, with a name that is no version; it goes with this
/// object, and what a killed process left goes with the next one.
class ModuleFolder {
  public:
    /// Error: not_authorized (not root), try_again (another process changes it), or as bundle::File refuses
    /// the folder.
    [[nodiscard]] static Result<ModuleFolder> lock(const std::filesystem::path& folder);

    ModuleFolder(ModuleFolder&& other) noexcept = default;
    ModuleFolder& operator=(ModuleFolder&& other) = delete;
    ~ModuleFolder();

    /// Where a version's folder lies, or would.
    [[nodiscard]] std::filesystem::path of(const upgrade::Version& version) const;
    /// Where parts of a new version are put together.
    [[nodiscard]] const std::filesystem::path& workplace() const { return workplace_; }

    /// Error: refused (this version is there already).
    [[nodiscard]] Result<void> check_free(const upgrade::Version& version) const;
    /// Moves the workplace's folder of this version, all of which is on the disk, to its place. Error:
    /// refused (it is there already), failed.
    [[nodiscard]] Result<void> put(const upgrade::Version& version);
    /// Error: failed.
    [[nodiscard]] Result<void> take_away(const upgrade::Version& version);

  private:
    ModuleFolder(bundle::File folder, std::filesystem::path workplace)
        : folder_(std::move(folder)), workplace_(std::move(workplace)) {}
    [[nodiscard]] Result<void> move(const std::filesystem::path& from, const std::filesystem::path& to);

    bundle::File folder_;              ///< locked as long as it is open
    std::filesystem::path workplace_;  ///< empty in one that was moved from
};

}  // namespace cgpu::client
