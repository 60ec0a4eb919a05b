#include "client/runtime/chain/next_runtime.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "client/runtime/chain/calls.hpp"
#include "client/runtime/chain/loader_variables.hpp"
#include "client/runtime/chain/programs.hpp"
#include "client/runtime/oci/own_hook.hpp"

namespace cgpu::runtime {
namespace {

using client::ClientError;

/// Runtimes that know nothing of NVIDIA's variables and annotations.
constexpr std::array<std::string_view, 4> kPlainRuntimes = {"runc", "docker-runc", "crun", "youki"};

bool is_same(const struct stat& file, const std::string& path) {
    struct stat other {};
    return stat(path.c_str(), &other) == 0 && file.st_dev == other.st_dev && file.st_ino == other.st_ino;
}

}  // namespace

bool is_another_runtime(const std::string& path) {
    struct stat there {};
    if (access(path.c_str(), X_OK) != 0 || stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode))
        return false;
    return !is_same(there, "/proc/self/exe") && !is_same(there, runtime_program());
}

const std::vector<std::string>& usual_folders() {
    static const std::vector<std::string> folders = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                                     "/usr/bin",        "/sbin",          "/bin"};
    return folders;
}

client::Result<std::string> find_next_runtime(const std::string& chosen,
                                              const std::vector<std::string>& folders) {
    struct stat info {};
    if (lstat(chosen.c_str(), &info) == 0) {
        if (is_another_runtime(chosen)) return chosen;
        return client::fail(
            ClientError::Kind::failed,
            chosen + ": it does not lead to another container runtime. Try: ln -sf /usr/sbin/runc " + chosen +
                ".");
    }
    for (const char* name : {"nvidia-container-runtime", "runc", "crun"})
        for (const std::string& folder : folders)
            if (const std::string path = folder + "/" + name; is_another_runtime(path)) return path;
    return client::fail(ClientError::Kind::failed,
                        "the next runtime: there is no nvidia-container-runtime, runc or crun. Try: install "
                        "nvidia-container-toolkit, or make a link to a runtime at " +
                            chosen + ".");
}

bool next_runtime_brings_gpus() {
    const auto next = find_next_runtime();
    if (!next) return false;
    std::error_code error;
    const auto real = std::filesystem::canonical(*next, error);
    return error || std::find(kPlainRuntimes.begin(), kPlainRuntimes.end(), real.filename().native()) ==
                        kPlainRuntimes.end();
}

bool may_get_gpus_later(const OciBundle& bundle) {
    return has_hooks_of_others(bundle) || next_runtime_brings_gpus();
}

ClientError become_next_runtime(char** arguments) {
    const auto next = find_next_runtime();
    if (!next) return next.error();
    expect_call(Call::by_next_runtime);
    put_loader_variables_back();
    std::string name = *next;
    arguments[0] = name.data();
    execv(name.c_str(), arguments);
    return {ClientError::Kind::failed,
            *next + ": " + std::strerror(errno) + ". Try: check that it is executable."};
}

}  // namespace cgpu::runtime
