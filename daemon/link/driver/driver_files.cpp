#include "daemon/link/driver/driver_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/elf/newer_functions.hpp"
#include "daemon/link/driver/handed_file.hpp"
#include "files/read.hpp"

namespace cgpu::link {
namespace {

/// For a file on the host. A disk that sleeps needs longer, but cgpud has other instances to take up.
constexpr std::chrono::seconds kLongestSearch{1};
constexpr std::array<const char*, wire::kLibraries> kNames = {"libcuda.so.1", "libnvidia-ml.so.1"};
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

/// As open_on_host(), with a bounded wait: the instance has named the path, which may lead to a folder that
/// an automounter mounts when it is asked for.
Descriptor find_again(const std::string& path, std::uint64_t device, std::uint64_t inode) {
    const auto found = std::make_shared<std::promise<Descriptor>>();
    auto answer = found->get_future();
    try {
        std::thread([=] { found->set_value(open_on_host(path, device, inode)); }).detach();
    } catch (const std::system_error&) {
        return Descriptor();
    }
    return answer.wait_for(kLongestSearch) == std::future_status::ready ? answer.get() : Descriptor();
}

}  // namespace

DriverFiles::DriverFiles(const model::Instance& instance, const std::filesystem::path& folder,
                         app::DescriptorStore& store, app::DriverWatch& watch)
    : instance_(app::key_of(instance)),
      about_(log::about(instance)),
      note_(folder / "driver"),
      store_(store),
      watch_(watch) {
    recover();
}

bool DriverFiles::any() const { return libraries() != 0; }

std::string DriverFiles::name_of(std::size_t library) const {
    return "driver-" + std::to_string(instance_.generation) + "-" + std::to_string(library) + "-" +
           instance_.id.str();
}

app::Result<void> DriverFiles::take(FileIntake::Came came) {
    const auto refuse = [&](const std::string& why) {
        return model::refuse(model::Refusal::Reason::invalid,
                             "the driver's libraries of instance " + instance_.id.short_id(), why,
                             "use cgpuctl and cgpu-runtime of cgpud's release");
    };
    if (taken_) return refuse("they were handed over already");
    if (!came.why_not.empty()) return refuse(came.why_not);
    taken_ = true;
    auto next = came.files.begin();
    for (std::size_t library = 0; library < wire::kLibraries && next != came.files.end(); ++library) {
        if ((came.message.libraries >> library & 1U) == 0) continue;
        files_[library] = std::move(*next++);
        store_.keep(name_of(library), files_[library].fd());
    }
    note(came.message);
    tell(came.message.paths[static_cast<std::size_t>(wire::Library::cuda)]);
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
    std::ostringstream out;
    for (std::size_t library = 0; library < wire::kLibraries; ++library) {
        const auto status = files_[library] ? status_of(files_[library].fd()) : std::nullopt;
        const std::string_view path = message.paths[library];
        if (!status || path.find('\n') != std::string_view::npos) continue;
        out << instance_.generation << ' ' << library << ' ' << status->st_dev << ' ' << status->st_ino << ' '
            << (path.empty() ? "-" : path) << '\n';
    }
    if (const auto written = files::write_text(note_, out.str()); !written)
        log::warn(
            about_,
            "instance {}: {} can't be written: a cgpud without systemd won't find its driver again ({})",
            instance_.id.short_id(), note_.string(), written.error().why());
}

void DriverFiles::recover() {
    constexpr std::size_t kMost = std::size_t{64} << 10;  // a few lines with a path each
    std::istringstream in(files::read_text(note_, kMost).value_or(""));
    std::uint64_t generation = 0;
    std::uint64_t library = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::string path;
    while (in >> generation >> library >> device >> inode && std::getline(in >> std::ws, path)) {
        if (generation != instance_.generation || library >= wire::kLibraries) continue;
        taken_ = true;
        files_[library] = Descriptor(store_.take(name_of(library)));
        if (!files_[library]) files_[library] = find_again(path, device, inode);
        if (library == static_cast<std::size_t>(wire::Library::cuda)) tell(path);
        if (!files_[library])
            log::warn(
                about_,
                "instance {}: its {} is not one of the host, or was changed: processes that start in it from "
                "now on are without it. Try: start it anew.",
                instance_.id.short_id(), kNames[library]);
    }
}

}  // namespace cgpu::link
