#include "client/run/driver/library_search.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>

#include "client/run/driver/path_trust.hpp"
#include "client/run/files/stored_file.hpp"
#include "core/model/quote.hpp"

namespace cgpu::client {
namespace {

/// Bounds the number of mounts: one for each file.
constexpr std::size_t kMaxFiles = 256;
/// Of sentences about files that are not covered.
constexpr std::size_t kMaxUncovered = 8;

std::string soname_of(std::size_t kind) { return std::string(kLibraryKinds[kind].base) + ".1"; }

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().native(); }

std::optional<std::size_t> kind_of(std::string_view name, unsigned machine) {
    for (std::size_t kind = 0; kind < kLibraryKinds.size(); ++kind)
        if (kLibraryKinds[kind].is_named(name) && (kLibraryKinds[kind].machines & machine) != 0) return kind;
    return std::nullopt;
}

/// Whether a file can't be looked at for now. It must not be taken for missing then:
/// it would stay uncovered.
bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

bool has_file(const DriverLibrary& library, const std::string& path) {
    return std::ranges::find(library.files, path, &LibraryFile::path) != library.files.end();
}

}  // namespace

void LibrarySearch::look_in(const std::vector<std::string>& folders, Way way, Origin origin) {
    for (const std::filesystem::path folder : folders)
        for (const std::string& name : names_in(folder.native()))
            consider((folder / name).native(), name, way, origin);
}

void LibrarySearch::look_for_names_in(const std::vector<std::string>& folders, Origin origin) {
    for (const std::filesystem::path folder : folders)
        for (const LibraryKind& kind : kLibraryKinds)
            for (const std::string& name : {std::string(kind.base), std::string(kind.base) + ".1"})
                consider((folder / name).native(), name, Way::none, origin);
}

void LibrarySearch::look_at_cached(const std::vector<std::string>& paths, const std::string& soname) {
    for (const std::string& path : paths) consider(path, soname, Way::cache, Origin::loader);
}

void LibrarySearch::look_at_mounts(const std::vector<Mount>& mounts) {
    for (const Mount& mount : mounts) {
        const std::string path = root_.inside(mount.point);
        if (path.empty() || !has_drivers_name(name_of(path))) continue;
        // What a user has mounted (by FUSE) isn't even looked at: whoever answers for that file system may
        // never answer.
        if (place_ == Place::host && writable_by_others(root_, path)) continue;
        consider(path, name_of(path), Way::none, Origin::shipped);
    }
}

void LibrarySearch::look_at_other_places(const std::vector<Mount>& mounts) {
    for (std::size_t kind = 0; kind < found_.size(); ++kind) {
        const auto files = found_[kind].files;
        for (const LibraryFile& file : files) {
            const Descriptor there = root_.find_real(file.path, O_PATH);
            const auto mount = mount_of_file(there);
            std::error_code failed;
            const auto path = std::filesystem::read_symlink(by_descriptor(there), failed);
            if (!mount || failed) continue;
            for (const std::string& place : other_places(mounts, *mount, path.native())) {
                const std::string inside = root_.inside(place);
                if (inside.empty()) continue;
                const Descriptor other = root_.find_real(inside, O_PATH);
                if (id_of_file(other) == file.id) add(kind, {inside, file.id});
            }
        }
    }
}

Driver LibrarySearch::take() {
    Driver driver;
    for (std::size_t kind = 0; kind < found_.size(); ++kind) {
        Found& found = found_[kind];
        if (found.files.empty()) continue;
        const LibraryFile real = found.loaded ? *found.loaded : found.files.front();
        driver.libraries.push_back(
            {soname_of(kind), real, std::move(found.files), kLibraryKinds[kind].hidden});
    }
    driver.uncovered = std::move(uncovered_);
    return driver;
}

/// `name`: that by which the loader would look for it.
void LibrarySearch::consider(const std::string& path, const std::string& name, Way way, Origin origin) {
    if (refusal_) return;
    const Descriptor there = root_.find(path, O_PATH);
    const Descriptor file = there ? open_stored(there) : Descriptor();
    // What users hold in a shipped folder must not keep others' jobs from starting.
    if (!file && (is_shortage(errno) || (errno == EWOULDBLOCK && origin == Origin::loader)))
        return refuse(model::quote(path) + ": it can't be looked at: " + std::strerror(errno) +
                      ". Try: run the command again, perhaps with a larger limit of open files (ulimit -n).");
    struct stat info {};
    const unsigned machine = file && fstat(file.fd(), &info) == 0 ? machine_of_driver(file) : 0;
    // Nobody gets at the GPU by it, whatever its name: it isn't covered.
    if (machine == 0) return;
    const std::string real = root_.path_of(there);
    if (real.empty()) return;
    const auto kind = kind_of(name_of(real), machine);
    if (!kind) return misnamed(path, real, origin);
    if (!may_be_covered(path, real, *kind, info, origin)) return;
    const LibraryFile found{real, {info.st_dev, info.st_ino}};
    if (name == soname_of(*kind) && way < found_[*kind].way) {
        found_[*kind].way = way;
        found_[*kind].loaded = found;
    }
    add(*kind, found);
}

bool LibrarySearch::may_be_covered(const std::string& path, const std::string& real, std::size_t kind,
                                   const struct stat& info, Origin origin) {
    if (system_ != nullptr) return is_users(real, kind, info, origin);
    if (origin == Origin::loader) return true;
    // Useless without a driver where the loader looks.
    if (!kLibraryKinds[kind].hidden && found_[kind].files.empty()) return false;
    if (origin == Origin::claimed || place_ == Place::container) return true;
    const auto others = writable_by_others(root_, path);
    if (others) leave_uncovered(real, "others than root can write to " + model::quote(*others));
    return !others;
}

bool LibrarySearch::is_users(const std::string& real, std::size_t kind, const struct stat& info,
                             Origin origin) {
    if (is_of_system(real)) return false;
    // Without a front of the system there is nothing to mount over the file. That only happens for NVML,
    // which can't use anything of a GPU.
    if (!kLibraryKinds[kind].hidden && of_system(kind) == nullptr) return false;
    if (info.st_uid == user_) return true;
    if (origin == Origin::loader)
        refuse(model::quote(real) +
               ": LD_LIBRARY_PATH leads to this library of the NVIDIA driver, which is neither the system's "
               "nor yours, so it can't be covered. Try: take its folder out of LD_LIBRARY_PATH.");
    else
        leave_uncovered(real, "it is neither the system's nor yours");
    return false;
}

void LibrarySearch::add(std::size_t kind, LibraryFile file) {
    auto& files = found_[kind].files;
    // Two hard links are two files here: a mount over one of them does not cover the other.
    if (std::ranges::find(files, file.path, &LibraryFile::path) != files.end()) return;
    if (files.size() == kMaxFiles)
        return refuse(std::string(kLibraryKinds[kind].base) + ": there are more than " +
                      std::to_string(kMaxFiles) +
                      " files of this name where the loader looks. Try: remove some of them.");
    files.push_back(std::move(file));
}

void LibrarySearch::misnamed(const std::string& path, const std::string& real, Origin origin) {
    if (is_of_system(real)) return;
    if (origin != Origin::loader && place_ == Place::host)
        return leave_uncovered(real, "the file itself doesn't have a driver's name");
    refuse(
        model::quote(path) + ": it leads to " + model::quote(real) +
        ", a library of the NVIDIA driver that doesn't have a driver's name itself, so it can't be covered. "
        "Try: name the file as the link is named, or remove the link.");
}

void LibrarySearch::leave_uncovered(const std::string& real, const std::string& why) {
    std::string sentence = model::quote(real) +
                           ": this library of the NVIDIA driver isn't covered, because " + why +
                           "; jobs that load it have no limit. Try: make it and its folders root's alone "
                           "(chown -R root, chmod -R go-w), or remove it.";
    if (uncovered_.size() < kMaxUncovered && std::ranges::find(uncovered_, sentence) == uncovered_.end())
        uncovered_.push_back(std::move(sentence));
}

void LibrarySearch::refuse(const std::string& sentence) {
    if (!refusal_) refusal_ = ClientError{ClientError::Kind::refused, sentence};
}

const DriverLibrary* LibrarySearch::of_system(std::size_t kind) const {
    const auto same = std::ranges::find_if(*system_, [kind](const DriverLibrary& library) {
        return library.soname == soname_of(kind) && library.hidden == kLibraryKinds[kind].hidden;
    });
    return same == system_->end() ? nullptr : &*same;
}

bool LibrarySearch::is_of_system(const std::string& real) const {
    return system_ != nullptr && std::ranges::any_of(*system_, [&real](const DriverLibrary& library) {
               return has_file(library, real);
           });
}

const std::vector<std::string>& LibrarySearch::names_in(const std::string& folder) {
    const auto [place, is_new] = names_.try_emplace(folder);
    if (is_new) place->second = root_.names_in(folder, has_drivers_name);
    return place->second;
}

}  // namespace cgpu::client
