#include "client/modules/add_bundle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <system_error>

#include "bundle/bundle.hpp"
#include "client/modules/module_folder.hpp"
#include "client/modules/refused.hpp"
#include "client/modules/tar.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;
using Kind = ClientError::Kind;

Result<void> not_written(const fs::path& path) {
    return fail(Kind::failed, path.native() + ": it can't be written: " +
                                  std::generic_category().message(errno) + ". Try: make room on that disk.");
}

/// Writes a new file, which is on the disk when this returns.
Result<void> write_file(const fs::path& path, std::span<const std::byte> bytes) {
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file || fchmod(file.fd(), 0644) != 0) return not_written(path);
    while (!bytes.empty()) {
        const ssize_t done = write(file.fd(), bytes.data(), bytes.size());
        if (done < 0 && errno != EINTR) return not_written(path);
        if (done > 0) bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return fsync(file.fd()) == 0 ? Result<void>() : not_written(path);
}

Result<void> write_bundle(const bundle::Bundle& bundle, const fs::path& folder) {
    if (mkdir(folder.c_str(), 0755) != 0 || chmod(folder.c_str(), 0755) != 0) return not_written(folder);
    if (auto done = write_file(folder / bundle.manifest.engine, bundle.engine); !done) return done;
    if (auto done =
            write_file(folder / bundle::kManifestName, std::as_bytes(std::span(bundle.manifest_text)));
        !done)
        return done;
    const Descriptor written(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return written && fsync(written.fd()) == 0 ? Result<void>() : not_written(folder);
}

/// The folder to copy from.
Result<fs::path> unpacked(const fs::path& source, const fs::path& workplace) {
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(source, none))) return source;
    const fs::path into = workplace / "unpacked";
    if (mkdir(into.c_str(), 0755) != 0) return tl::unexpected(not_written(into).error());
    return unpack_bundle(source, into);
}

}  // namespace

Result<upgrade::Version> add_bundle(const fs::path& source, const fs::path& modules, bool dry_run) {
    std::error_code none;
    if (fs::symlink_status(source, none).type() == fs::file_type::not_found)
        return fail(
            Kind::not_found,
            source.native() +
                ": it is not there. Try: name the folder of a version, or a tar file with one in it.");
    auto installed = ModuleFolder::lock(modules);
    if (!installed) return tl::unexpected(installed.error());
    const auto folder = unpacked(source, installed->workplace());
    if (!folder) return tl::unexpected(folder.error());
    const auto bundle = bundle::read_bundle(*folder);
    if (!bundle) return refused(bundle.error());
    const upgrade::Version version = bundle->manifest.version;
    if (auto free = installed->check_free(version); !free) return tl::unexpected(free.error());
    if (dry_run) return version;
    if (auto written = write_bundle(*bundle, installed->workplace() / version.str()); !written)
        return tl::unexpected(written.error());
    if (auto put = installed->put(version); !put) return tl::unexpected(put.error());
    return version;
}

}  // namespace cgpu::client
