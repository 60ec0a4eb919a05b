#include "client/run/driver/driver_files.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "client/run/driver/library_search.hpp"
#include "client/run/driver/loader_cache.hpp"
#include "client/run/files/stored_file.hpp"

namespace cgpu::client {
namespace {

/// Bounds the size of a loader cache; honest ones are smaller.
constexpr std::size_t kMaxCache = std::size_t{16} << 20;

constexpr std::array<const char*, 3> kSonames = {"libcuda.so.1", "libnvidia-ml.so.1",
                                                 "libnvidia-opencl.so.1"};

}  // namespace

Result<Driver> find_driver(const Root& root, const LoaderEnvironment& environment, Place place) {
    const auto folders = library_folders(root, environment);
    if (!folders) return tl::unexpected(folders.error());
    const auto shipped = shipped_driver_folders(root, environment, place);
    if (!shipped) return tl::unexpected(shipped.error());
    const auto mounts = mounts_here();
    if (!mounts) return tl::unexpected(mounts.error());
    const std::string cache = stored_text_of(root, "/etc/ld.so.cache", kMaxCache);
    LibrarySearch search(root, place);
    search.look_in(folders->own, Way::own, Origin::loader);
    for (const char* soname : kSonames) search.look_at_cached(cached_paths(cache, soname), soname);
    search.look_in(folders->usual, Way::usual, Origin::loader);
    search.look_in(folders->configured, Way::configured, Origin::loader);
    search.look_in(shipped->shipped, Way::none, Origin::shipped);
    search.look_in(shipped->claimed, Way::none, Origin::claimed);
    search.look_for_names_in(shipped->doubtful, Origin::shipped);
    search.look_at_mounts(*mounts);
    search.look_at_other_places(*mounts);
    if (search.refusal()) return tl::unexpected(*search.refusal());
    Driver driver = search.take();
    const auto& libraries = driver.libraries;
    if (libraries.empty() || libraries.front().hidden || libraries.front().soname != kSonames.front())
        return fail(
            ClientError::Kind::failed,
            "the NVIDIA driver: there is no libcuda.so.1 in the loader's folders. Try: install the driver, "
            "then ldconfig -p | grep libcuda.");
    return driver;
}

Result<Driver> find_copies(const Root& root, const LoaderEnvironment& environment,
                           const std::vector<DriverLibrary>& system, uid_t user) {
    const auto folders = library_folders(root, environment);
    if (!folders) return tl::unexpected(folders.error());
    const auto shipped = shipped_driver_folders(root, environment, Place::host);
    if (!shipped) return tl::unexpected(shipped.error());
    LibrarySearch search(root, system, user);
    search.look_in(folders->own, Way::own, Origin::loader);
    search.look_in(shipped->shipped, Way::none, Origin::shipped);
    search.look_in(shipped->claimed, Way::none, Origin::claimed);
    search.look_for_names_in(shipped->doubtful, Origin::shipped);
    if (search.refusal()) return tl::unexpected(*search.refusal());
    return search.take();
}

std::vector<FileId> ids_of(const std::vector<DriverLibrary>& libraries) {
    std::vector<FileId> ids;
    for (const DriverLibrary& library : libraries)
        for (const LibraryFile& file : library.files) ids.push_back(file.id);
    return ids;
}

}  // namespace cgpu::client
