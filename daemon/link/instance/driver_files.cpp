#include "daemon/link/instance/driver_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <fstream>
#include <optional>
#include <string_view>

#include "core/elf/newer_functions.hpp"
#include "core/elf/shared_object.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::link {
namespace {

constexpr std::array<const char*, wire::kLibraries> kNames = {"libcuda.so.1", "libnvidia-ml.so.1"};
constexpr std::uint32_t kAll = (1U << wire::kLibraries) - 1;

std::optional<struct stat> status_of(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return std::nullopt;
    return status;
}

elf::ReadAt reader_of(int fd) {
    return [fd](std::uint64_t offset, std::span<std::byte> to) {
        return pread(fd, to.data(), to.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(to.size());
    };
}

std::optional<std::string> why_not_a_library(int fd) {
    const auto status = status_of(fd);
    if (!status || !S_ISREG(status->st_mode)) return "it is no file";
    // A descriptor that is open for writing would let the instance change the driver of others.
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & O_PATH) != 0)
        return "it was not opened for reading alone";
    return elf::why_not_loadable(reader_of(fd), static_cast<std::uint64_t>(status->st_size));
}

/// The place that the path names, without following a link on the way. openat2(2) would do it in one call,
/// but RestrictSUIDSGID= of the unit denies it: a filter of system calls can't see its flags.
Descriptor find_place(std::string_view path) {
    Descriptor place(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (place && !path.empty()) {
        path.remove_prefix(1);  // a slash
        const std::string name(path.substr(0, path.find('/')));
        path.remove_prefix(name.size());
        if (name.empty() || name == "..") return Descriptor();
        place = Descriptor(openat(place.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    return place;
}

/// Opens the noted file again, by its path on the host. An instance has named the path, so it is opened for
/// reading only when it is known to be that file: opening a fifo or a device has side effects.
Descriptor open_again(const std::string& path, std::uint64_t device, std::uint64_t inode) {
    if (!path.starts_with('/')) return Descriptor();
    const Descriptor there = find_place(path);
    const auto status = there ? status_of(there.fd()) : std::nullopt;
    if (!status || !S_ISREG(status->st_mode) || status->st_dev != device || status->st_ino != inode)
        return Descriptor();
    return Descriptor(open(("/proc/self/fd/" + std::to_string(there.fd())).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

DriverFiles::DriverFiles(const app::InstanceKey& instance, const std::filesystem::path& folder,
                         app::DescriptorStore& store, app::DriverWatch& watch)
    : instance_(instance), note_(folder / "driver"), store_(store), watch_(watch) {
    recover();
}

bool DriverFiles::any() const { return libraries() != 0; }

std::string DriverFiles::name_of(std::size_t library) const {
    return "driver-" + std::to_string(instance_.generation) + "-" + std::to_string(library) + "-" +
           instance_.id.str();
}

app::Result<void> DriverFiles::take(const wire::HandOver& message, std::vector<Descriptor> files) {
    const auto refuse = [&](const std::string& why) {
        return model::refuse(model::Refusal::Reason::invalid,
                             "the driver's libraries of instance " + instance_.id.short_id(), why,
                             "use cgpuctl and cgpu-runtime of cgpud's release");
    };
    if (any()) return refuse("they were handed over already");
    if ((message.libraries & ~kAll) != 0 || message.libraries == 0 ||
        static_cast<std::size_t>(std::popcount(message.libraries)) != files.size())
        return refuse("the descriptors are not those that the message names");
    for (const Descriptor& file : files)
        if (const auto why = why_not_a_library(file.fd())) return refuse(*why);
    auto next = files.begin();
    for (std::size_t library = 0; library < wire::kLibraries; ++library) {
        if ((message.libraries >> library & 1U) == 0) continue;
        files_[library] = std::move(*next++);
        store_.keep(name_of(library), files_[library].fd());
    }
    note(message);
    tell(message.paths[static_cast<std::size_t>(wire::Library::cuda)]);
    return {};
}

/// What can't be read of its symbols is nothing to tell: the front was fitted to them.
void DriverFiles::tell(const std::string& path) const {
    const Descriptor& cuda = files_[static_cast<std::size_t>(wire::Library::cuda)];
    const auto status = cuda ? status_of(cuda.fd()) : std::nullopt;
    if (!status) return;
    const auto changed = status->st_mtim;
    const app::DriverFileId id{status->st_dev, status->st_ino,
                               changed.tv_sec * app::kSecond + changed.tv_nsec};
    if (watch_.knows(id)) return;
    const auto newer = elf::newer_functions(reader_of(cuda.fd()));
    watch_.was_read(id, path, newer.value_or(std::vector<std::string>()));
}

void DriverFiles::forget() {
    for (std::size_t library = 0; library < wire::kLibraries; ++library)
        if (files_[library]) store_.forget(name_of(library));
}

std::uint32_t DriverFiles::libraries() const {
    std::uint32_t bits = 0;
    for (std::size_t library = 0; library < wire::kLibraries; ++library)
        if (files_[library]) bits |= 1U << library;
    return bits;
}

std::vector<int> DriverFiles::fds() const {
    std::vector<int> fds;
    for (const Descriptor& file : files_)
        if (file) fds.push_back(file.fd());
    return fds;
}

/// One line for each: generation of the instance, library, device, inode, path. Like the folder, it is valid
/// until the next boot.
void DriverFiles::note(const wire::HandOver& message) const {
    std::ofstream out(note_, std::ios::trunc);
    for (std::size_t library = 0; library < wire::kLibraries; ++library) {
        const auto status = files_[library] ? status_of(files_[library].fd()) : std::nullopt;
        const std::string_view path = message.paths[library];
        if (!status || path.find('\n') != std::string_view::npos) continue;
        out << instance_.generation << ' ' << library << ' ' << status->st_dev << ' ' << status->st_ino << ' '
            << (path.empty() ? "-" : path) << '\n';
    }
    if (!out.flush())
        log::warn("instance {}: {} can't be written: a cgpud without systemd won't find its driver again",
                  instance_.id.short_id(), note_.string());
}

void DriverFiles::recover() {
    std::ifstream in(note_);
    std::uint64_t generation = 0;
    std::uint64_t library = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::string path;
    while (in >> generation >> library >> device >> inode && std::getline(in >> std::ws, path)) {
        if (generation != instance_.generation || library >= wire::kLibraries) continue;
        files_[library] = Descriptor(store_.take(name_of(library)));
        if (!files_[library]) files_[library] = open_again(path, device, inode);
        if (library == static_cast<std::size_t>(wire::Library::cuda)) tell(path);
        if (!files_[library])
            log::warn(
                "instance {}: its {} is not one of the host, or was changed: processes that start in it from "
                "now on are without it. Try: start it anew.",
                instance_.id.short_id(), kNames[library]);
    }
}

}  // namespace cgpu::link
