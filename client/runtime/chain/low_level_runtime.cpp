#include "client/runtime/chain/low_level_runtime.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "client/runtime/chain/calls.hpp"
#include "client/runtime/chain/finished_bundle.hpp"
#include "client/runtime/chain/next_runtime.hpp"
#include "client/runtime/chain/programs.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {
namespace {

namespace fs = std::filesystem;
using client::ClientError;

std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> folders;
    std::istringstream text(path);
    for (std::string folder; std::getline(text, folder, ':');) folders.push_back(folder);
    return folders;
}

std::string current_path() {
    const char* path = std::getenv("PATH");
    return path == nullptr ? "" : path;
}

std::string without(const std::string& path, const std::string& unwanted) {
    std::string kept;
    for (const std::string& folder : split(path))
        if (folder != unwanted) kept += (kept.empty() ? "" : ":") + folder;
    return kept;
}

client::Result<void> finish(const Invocation& invocation) {
    // Without a config.json the runtime reports it in its own words.
    std::error_code none;
    if (!invocation.creates() || !fs::exists(fs::path(invocation.bundle) / "config.json", none)) return {};
    auto bundle = OciBundle::read(invocation.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    const auto changed = finish_bundle(*bundle);
    if (!changed) return tl::unexpected(changed.error());
    return *changed ? bundle->write() : client::Result<void>{};
}

}  // namespace

void stand_before_low_level_runtimes() {
    const std::string path = current_path();
    setenv("PATH", (low_level_folder() + (path.empty() ? "" : ":" + path)).c_str(), 1);
}

std::optional<std::string> low_level_name(const std::string& called_as) {
    const fs::path path = called_as;
    if (path.parent_path() != low_level_folder()) return std::nullopt;
    return path.filename().native();
}

std::string present_low_level_runtime() {
    const std::string path = without(current_path(), low_level_folder());
    return find_low_level_runtime("runc", path) || !find_low_level_runtime("crun", path) ? "runc" : "crun";
}

client::Result<std::string> find_low_level_runtime(const std::string& name, const std::string& path) {
    std::vector<std::string> folders = split(path);
    for (const std::string& folder : usual_folders()) folders.push_back(folder);
    for (const std::string& folder : folders) {
        if (folder.empty() || folder == low_level_folder()) continue;
        std::string program = (fs::path(folder) / name).native();
        if (is_another_runtime(program)) return program;
    }
    return client::fail(
        ClientError::Kind::failed,
        name +
            ": NVIDIA's runtime wants it to make the container, and there is none along PATH. "
            "Try: install it, or another one of `runtimes` in "
            "/etc/nvidia-container-runtime/config.toml.");
}

ClientError become_low_level_runtime(const std::string& name, const Invocation& invocation,
                                     char** arguments) {
    const std::string path = without(current_path(), low_level_folder());
    const auto program = find_low_level_runtime(name, path);
    if (!program) return program.error();
    if (const auto finished = finish(invocation); !finished) return finished.error();
    if (path.empty())
        unsetenv("PATH");
    else
        setenv("PATH", path.c_str(), 1);
    expect_call(Call::by_low_level_runtime);
    std::string called = *program;
    arguments[0] = called.data();
    execv(program->c_str(), arguments);
    return {ClientError::Kind::failed,
            *program + ": " + std::strerror(errno) + ". Try: check that it is executable."};
}

}  // namespace cgpu::runtime
