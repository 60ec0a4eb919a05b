#include "client/cgpuctl/docker/containerd/containerd_start.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

#include <sys/wait.h>

#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

/// `-c FILE`, `--config FILE`, `--config=FILE`.
std::string file_in(const std::vector<std::string>& words) {
    constexpr std::array<std::string_view, 3> kFlags = {"-c", "--config", "-config"};
    for (std::size_t at = 1; at < words.size(); ++at)
        for (const std::string_view flag : kFlags) {
            const std::string& word = words[at];
            if (word == flag && at + 1 < words.size()) return words[at + 1];
            if (word.size() > flag.size() && word.starts_with(flag) && word[flag.size()] == '=')
                return word.substr(flag.size() + 1);
        }
    return kContainerdFile;
}

}  // namespace

std::vector<RunningContainerd> running_containerds(const std::string& proc) {
    std::vector<RunningContainerd> all;
    for (EngineProcess& process : engine_processes("containerd", proc)) {
        if (process.own_users) continue;
        std::string file = process.absolute(file_in(process.words));
        // dockerd writes this file for the containerd that it starts for itself.
        if (file.ends_with("/containerd/containerd.toml") && file.find("docker") != std::string::npos)
            continue;
        all.push_back({std::move(process), std::move(file)});
    }
    return all;
}

std::string source_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code none;
    // k3s and RKE2, by their folder; MicroK8s.
    if (folder.native().ends_with("/agent/etc/containerd") && file.ends_with(".toml")) return file + ".tmpl";
    if (file.ends_with("/containerd.toml") &&
        std::filesystem::exists(folder / "containerd-template.toml", none))
        return folder / "containerd-template.toml";
    return {};
}

std::optional<ContainerdDump> dump_containerd(const std::string& file) {
    std::FILE* pipe =
        popen(("containerd --config " + model::shell_word(file) + " config dump 2>&1").c_str(), "re");
    if (pipe == nullptr) return std::nullopt;
    ContainerdDump dump;
    std::array<char, 4096> part{};
    for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        dump.said.append(part.data(), n);
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return std::nullopt;
    dump.readable = WEXITSTATUS(status) == 0;
    return dump;
}

}  // namespace cgpu::cgpuctl
