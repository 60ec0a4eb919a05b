#include "client/run/driver/driver_files.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>
#include <unistd.h>

#include "client/run/driver/loader_cache.hpp"
#include "client/run/files/mount_table.hpp"

namespace cgpu::client {
namespace {

/// `libcuda.so` alone, or with a version: libcuda.so.1, libcuda.so.535.104.05.
bool is_named(std::string_view file, std::string_view base) {
    if (!file.starts_with(base)) return false;
    const std::string_view rest = file.substr(base.size());
    return rest.empty() ||
           (rest.front() == '.' && rest.find_first_not_of(".0123456789") == std::string_view::npos);
}

/// The machines whose programs the kernel executes, as bits.
constexpr unsigned k64Bit = 1;
constexpr unsigned k32Bit = 2;

/// 0: for neither. Both kinds of header begin alike.
unsigned machine_of(const Descriptor& file) {
    Elf32_Ehdr header{};
    if (pread(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return 0;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64) return k64Bit;
    return header.e_ident[EI_CLASS] == ELFCLASS32 && header.e_machine == EM_386 ? k32Bit : 0;
}

struct Wanted {
    const char* base;
    unsigned machines;
    bool hidden;
};

constexpr std::array<Wanted, 5> kWanted = {{{"libcuda.so", k64Bit, false},
                                            {"libnvidia-ml.so", k64Bit, false},
                                            {"libnvidia-opencl.so", k64Bit | k32Bit, true},
                                            {"libcuda.so", k32Bit, true},
                                            {"libnvidia-ml.so", k32Bit, true}}};

/// Bounds the number of mounts: one for each file.
constexpr std::size_t kMaxFiles = 256;
/// Bounds the size of a loader cache; honest ones are smaller.
constexpr std::size_t kMaxCache = std::size_t{16} << 20;

/// The mounts below the root: NVIDIA's toolkit mounts the driver's files one by one, possibly where the
/// container's loader does not look. Paths are as seen from the root.
std::vector<std::string> mounts_below(const Root& root) {
    std::vector<std::string> paths;
    for (const Mount& mount : mounts_here())
        if (std::string path = root.inside(mount.point); !path.empty()) paths.push_back(std::move(path));
    return paths;
}

/// How the loader comes to a file of the name that programs load, in the order in which it tries them.
/// Without a cache it never looks in configured folders: they are a fallback for a root where ldconfig has
/// not run yet.
enum class Way { own, cache, usual, configured, none };

/// The files in folders that have the name of a wanted library. Each folder is read once: those of a system
/// have thousands of entries.
class Listings {
  public:
    explicit Listings(const Root& root) : root_(root) {}

    const std::vector<std::string>& in(const std::string& folder) {
        const auto [place, is_new] = names_.try_emplace(folder);
        if (is_new)
            place->second = root_.names_in(folder, [](std::string_view name) {
                return std::ranges::any_of(kWanted,
                                           [name](const Wanted& each) { return is_named(name, each.base); });
            });
        return place->second;
    }

  private:
    const Root& root_;
    std::map<std::string, std::vector<std::string>> names_;
};

class Search {
  public:
    Search(const Wanted& wanted, const Root& root, Listings& listings)
        : wanted_(wanted), base_(wanted.base), root_(root), listings_(listings) {}

    void look_in(const std::vector<std::string>& folders, Way way) {
        for (const std::filesystem::path folder : folders)
            for (const std::string& name : listings_.in(folder.native()))
                if (is_named(name, base_)) add((folder / name).native(), name == soname() ? way : Way::none);
    }

    /// Ignores paths of other names.
    void look_at(const std::vector<std::string>& paths, Way way) {
        for (const std::filesystem::path path : paths)
            if (is_named(path.filename().native(), base_)) add(path.native(), way);
    }

    [[nodiscard]] std::string soname() const { return base_ + ".1"; }
    [[nodiscard]] bool too_many() const { return files_.size() > kMaxFiles; }

    [[nodiscard]] std::optional<DriverLibrary> found() const {
        if (files_.empty()) return std::nullopt;
        return DriverLibrary{soname(), loaded_.empty() ? files_.front() : loaded_, files_, wanted_.hidden};
    }

  private:
    void add(const std::string& path, Way way) {
        if (too_many()) return;
        const Descriptor file = root_.find_file(path);
        if (!file || (machine_of(file) & wanted_.machines) == 0) return;
        const std::string real = root_.path_of(file);
        if (real.empty()) return;
        if (way < way_) {
            way_ = way;
            loaded_ = real;
        }
        // Two hard links are two files here: a mount over one of them does not cover the other.
        if (std::find(files_.begin(), files_.end(), real) == files_.end()) files_.push_back(real);
    }

    Wanted wanted_;
    std::string base_;
    const Root& root_;
    Listings& listings_;
    Way way_ = Way::none;
    std::string loaded_;
    std::vector<std::string> files_;
};

}  // namespace

Result<std::vector<DriverLibrary>> find_driver(const Root& root, const LoaderEnvironment& environment) {
    const auto folders = library_folders(root, environment);
    if (!folders) return tl::unexpected(folders.error());
    const auto shipped = shipped_driver_folders(root, environment);
    if (!shipped) return tl::unexpected(shipped.error());
    const auto mounts = mounts_below(root);
    const std::string cache = root.text_of("/etc/ld.so.cache", kMaxCache);
    Listings listings(root);
    std::vector<DriverLibrary> libraries;
    for (const Wanted& wanted : kWanted) {
        Search search(wanted, root, listings);
        search.look_in(folders->own, Way::own);
        search.look_at(cached_paths(cache, search.soname()), Way::cache);
        search.look_in(folders->usual, Way::usual);
        search.look_in(folders->configured, Way::configured);
        // Useless without a driver where the loader looks.
        if (wanted.hidden || search.found()) {
            search.look_in(*shipped, Way::none);
            search.look_at(mounts, Way::none);
        }
        if (search.too_many())
            return fail(ClientError::Kind::refused,
                        std::string(wanted.base) + ": there are more than " + std::to_string(kMaxFiles) +
                            " files of this name where the loader looks. Try: remove some of them.");
        if (auto library = search.found()) libraries.push_back(std::move(*library));
    }
    if (libraries.empty() || libraries.front().hidden || libraries.front().soname != "libcuda.so.1")
        return fail(
            ClientError::Kind::failed,
            "the NVIDIA driver: there is no libcuda.so.1 in the loader's folders. Try: install the driver, "
            "then ldconfig -p | grep libcuda.");
    return libraries;
}

std::vector<std::string> files_of(const std::vector<DriverLibrary>& driver) {
    std::vector<std::string> files;
    for (const DriverLibrary& each : driver) files.insert(files.end(), each.files.begin(), each.files.end());
    return files;
}

}  // namespace cgpu::client
