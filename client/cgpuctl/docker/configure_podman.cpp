// runtime configure --for podman: a file of cgpu's own among those that Podman reads.
#include "client/cgpuctl/docker/configure_podman.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "client/cgpuctl/docker/podman_config.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using Kind = client::ClientError::Kind;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

tl::unexpected<ClientError> failed(const std::string& file, int error) {
    const bool rights = error == EACCES || error == EPERM;
    return client::fail(
        rights ? Kind::not_authorized : Kind::failed,
        file + ": it can't be written (" + std::strerror(error) +
            "). Try: " + (rights ? "do the same as root (sudo)." : "make room, or correct the file system."));
}

/// In one step: Podman never reads half of it.
Result<void> write(const std::string& text) {
    std::error_code error;
    fs::create_directories(fs::path(kPodmanFile).parent_path(), error);
    if (error) return failed(kPodmanFile, error.value());
    const std::string beside = std::string(kPodmanFile) + ".new";
    errno = 0;
    std::ofstream file(beside);
    file << text;
    file.close();
    if (!file) return failed(beside, errno);
    fs::rename(beside, kPodmanFile, error);
    if (error) return failed(kPodmanFile, error.value());
    return {};
}

Result<void> remove() {
    std::error_code error;
    fs::remove(kPodmanFile, error);
    if (error) return failed(kPodmanFile, error.value());
    return {};
}

}  // namespace

Result<void> configure_podman(const Input& input, const std::string& program, Terminal& terminal) {
    std::vector<std::string> texts;
    for (const auto& file : podman_files()) texts.push_back(text_of(file));
    const std::string now = text_of(kPodmanFile);
    const std::string next =
        input.remove ? "" : podman_config(runtimes_with_json(texts), program, input.make_default);
    const std::string start = std::string(kPodmanFile) + ": ";
    if (input.dry_run) {
        terminal.done(start + (now == next ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (now != next)
        if (auto done = input.remove ? remove() : write(next); !done) return done;
    if (input.remove)
        terminal.done(start +
                      (now.empty() ? "it is not there; there is nothing to undo." : "it is removed."));
    else
        terminal.done(
            start +
            "it has the runtime cgpu (podman --runtime cgpu run …); Podman reads it at its next start.");
    return {};
}

}  // namespace cgpu::cgpuctl
