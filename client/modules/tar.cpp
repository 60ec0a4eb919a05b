#include "client/modules/tar.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bundle/bundle.hpp"
#include "bundle/root_owned_file.hpp"
#include "client/modules/refused.hpp"
#include "core/upgrade/manifest.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;
using Kind = ClientError::Kind;

/// Executes tar with the archive as its standard input. The limit stops archives that would fill the disk.
[[noreturn]] void become_tar(int archive, const char* into) {
    const std::string engines = "*/" + std::string(upgrade::kEnginePrefix) + "*";
    const std::string manifests = std::string("*/") + bundle::kManifestName;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const rlimit size{bundle::kMaxEngine + 1, bundle::kMaxEngine + 1};
    umask(022);
    if (dup2(archive, STDIN_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0 &&
        setrlimit(RLIMIT_FSIZE, &size) == 0)
        execlp("tar", "tar", "--extract", "--file=/proc/self/fd/0", "--directory", into, "--no-same-owner",
               "--no-same-permissions", "--wildcards", manifests.c_str(), engines.c_str(),
               static_cast<const char*>(nullptr));
    _exit(errno == ENOENT ? 127 : 126);
}

Result<int> run_tar(const bundle::RootOwnedFile& archive, const fs::path& into) {
    const pid_t child = fork();
    if (child == 0) become_tar(archive.descriptor(), into.c_str());
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(Kind::failed, "tar: it can't be waited for. Try: run the command again.");
    if (child < 0)
        return fail(Kind::failed, "tar: it can't be started: " + std::generic_category().message(errno) +
                                      ". Try: run the command again, or free some memory.");
    return status;
}

}  // namespace

Result<fs::path> unpack_bundle(const fs::path& tar, const fs::path& into) {
    std::error_code none;
    const auto archive = bundle::RootOwnedFile::open_file(fs::absolute(tar, none).native());
    if (!archive) return refused(archive.error());
    const auto status = run_tar(*archive, into);
    if (!status) return tl::unexpected(status.error());
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
        return fail(Kind::failed,
                    "tar: it is not installed. Try: unpack it on another machine, and add the folder.");
    const auto versions = bundle::versions_in(into);
    if (*status != 0 || versions.size() != 1)
        return fail(Kind::refused,
                    tar.native() +
                        ": it is no archive of one folder with a version's name, a manifest and an engine in "
                        "it. Try: list it with tar tf, or add a folder instead.");
    return into / versions.front().str();
}

}  // namespace cgpu::client
