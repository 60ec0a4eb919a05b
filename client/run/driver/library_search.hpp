#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/run/driver/driver_library.hpp"
#include "client/run/driver/library_file.hpp"
#include "client/run/driver/library_folders.hpp"
#include "client/run/files/mount_table.hpp"
#include "client/run/files/root.hpp"

namespace cgpu::client {

/// How the loader comes to a file of the name that programs load, in the order in which it tries them.
/// Without a cache it never looks in configured folders: they are a fallback for a root where ldconfig has
/// not run yet.
enum class Way { own, cache, usual, configured, none };

/// What led to a file: decides who must answer for it.
enum class Origin {
    loader,   ///< LD_LIBRARY_PATH, the loader's configuration, or its folders
    shipped,  ///< a folder in which installations ship a driver, or a mount
    claimed,  ///< such a folder in CONDA_PREFIX
};

/// Collects the files of the driver among candidates. The first of a few faults ends it: see refusal().
class LibrarySearch {
  public:
    /// Of all that may be covered below this root.
    LibrarySearch(const Root& root, Place place) : root_(root), place_(place) {}
    /// Of a user's own files; see find_copies().
    LibrarySearch(const Root& root, const std::vector<DriverLibrary>& system, uid_t user)
        : root_(root), place_(Place::host), system_(&system), user_(user) {}

    /// The files with a driver's name in these folders.
    void look_in(const std::vector<std::string>& folders, Way way, Origin origin);
    /// The names that the loader looks for, in folders that are not to be listed.
    void look_for_names_in(const std::vector<std::string>& folders, Origin origin);
    /// Files that the loader's cache names for this library.
    void look_at_cached(const std::vector<std::string>& paths, const std::string& soname);
    /// Mount points with a driver's name: NVIDIA's toolkit mounts the driver's files one by one, possibly
    /// where the container's loader does not look.
    void look_at_mounts(const std::vector<Mount>& mounts);
    /// The files found so far, where other mounts show them.
    void look_at_other_places(const std::vector<Mount>& mounts);

    [[nodiscard]] const std::optional<ClientError>& refusal() const { return refusal_; }
    [[nodiscard]] Driver take();

  private:
    struct Found {
        Way way = Way::none;
        std::optional<LibraryFile> loaded;
        std::vector<LibraryFile> files;
    };

    void consider(const std::string& path, const std::string& name, Way way, Origin origin);
    [[nodiscard]] bool may_be_covered(const std::string& path, const std::string& real, std::size_t kind,
                                      const struct stat& info, Origin origin);
    [[nodiscard]] bool is_users(const std::string& real, std::size_t kind, const struct stat& info,
                                Origin origin);
    void add(std::size_t kind, LibraryFile file);
    void misnamed(const std::string& path, const std::string& real, Origin origin);
    void leave_uncovered(const std::string& real, const std::string& why);
    void refuse(const std::string& sentence);
    [[nodiscard]] const DriverLibrary* of_system(std::size_t kind) const;
    [[nodiscard]] bool is_of_system(const std::string& real) const;
    [[nodiscard]] const std::vector<std::string>& names_in(const std::string& folder);

    const Root& root_;
    Place place_;
    const std::vector<DriverLibrary>* system_ = nullptr;
    uid_t user_ = 0;
    std::array<Found, kLibraryKinds.size()> found_;
    std::vector<std::string> uncovered_;
    std::optional<ClientError> refusal_;
    /// The names of interest in folders. Each folder is read once: those of a system have thousands of
    /// entries.
    std::map<std::string, std::vector<std::string>> names_;
};

}  // namespace cgpu::client
