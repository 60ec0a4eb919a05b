#include "client/cgpuctl/instances/place.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "client/cgpuctl/output/format.hpp"
#include "core/model/quote.hpp"
#include "files/read.hpp"

namespace cgpu::cgpuctl {
namespace {

/// The parts of all paths in the text, from the top down.
std::vector<std::string_view> parts_in(std::string_view cgroups) {
    std::vector<std::string_view> parts;
    while (!cgroups.empty()) {
        const auto end = cgroups.find_first_of("/\n");
        if (end != 0) parts.push_back(cgroups.substr(0, end));
        cgroups.remove_prefix(end == std::string_view::npos ? cgroups.size() : end + 1);
    }
    return parts;
}

constexpr std::array<std::pair<std::string_view, Engine>, 4> kScopes = {{
    {"docker-", Engine::docker},
    {"libpod-", Engine::podman},
    {"cri-containerd-", Engine::cri},
    {"crio-", Engine::cri},
}};

constexpr std::size_t kMost = std::size_t{1} << 20;

std::string read_of_process(std::string_view pid, const char* file) {
    return files::read_text("/proc/" + std::string(pid) + "/" + file, kMost).value_or("");
}

/// The parent in the text of a /proc/PID/stat: the second field behind the name, which may have any
/// character.
std::string parent_in(std::string_view stat) {
    const auto name = stat.rfind(") ");
    if (name == std::string_view::npos || stat.size() < name + 4) return {};
    stat.remove_prefix(name + 4);
    return std::string(stat.substr(0, stat.find(' ')));
}

}  // namespace

Engine engine_of_monitor(std::string_view command_line, std::string_view id) {
    if (id.empty()) return Engine::none;
    std::vector<std::string_view> words;
    while (!command_line.empty()) {
        const auto end = std::min(command_line.find('\0'), command_line.size());
        words.push_back(command_line.substr(0, end));
        command_line.remove_prefix(std::min(end + 1, command_line.size()));
    }
    const auto has = [&](std::string_view word) { return std::ranges::count(words, word) > 0; };
    if (!has(id)) return Engine::none;
    const auto program = words.front().substr(words.front().rfind('/') + 1);
    if (program.starts_with("containerd-shim") && has("moby")) return Engine::docker;
    if (program.starts_with("containerd-shim") && has("k8s.io")) return Engine::cri;
    if (program != "conmon") return Engine::none;
    const bool podman =
        std::ranges::any_of(words, [](std::string_view word) { return word.ends_with("/podman"); });
    return podman ? Engine::podman : Engine::cri;
}

Engine engine_in(std::string_view cgroups, std::string_view id) {
    if (id.empty()) return Engine::none;
    const auto parts = parts_in(cgroups);
    for (std::size_t at = 0; at < parts.size(); ++at) {
        const std::string_view before = at > 0 ? parts[at - 1] : std::string_view();
        if (parts[at].starts_with(id) && before == "docker") return Engine::docker;
        if (parts[at].starts_with(id) && (before.starts_with("pod") || before.starts_with("kubepods")))
            return Engine::cri;
        for (const auto& [prefix, engine] : kScopes)
            if (parts[at].starts_with(prefix) && parts[at].substr(prefix.size()).starts_with(id))
                return engine;
    }
    return Engine::none;
}

std::string cgroups_of(std::uint32_t pid) { return read_of_process(std::to_string(pid), "cgroup"); }

Engine engine_of(const client::Instance& instance) {
    if (instance.pid == 0) return Engine::none;
    const auto by_cgroup = engine_in(cgroups_of(instance.pid), instance.id);
    if (by_cgroup != Engine::none) return by_cgroup;
    const auto parent = parent_in(read_of_process(std::to_string(instance.pid), "stat"));
    return parent.empty() ? Engine::none : engine_of_monitor(read_of_process(parent, "cmdline"), instance.id);
}

bool is_container(const client::Instance& instance) {
    return !instance.image.empty() || !instance.managed || engine_of(instance) != Engine::none;
}

std::string engine_command(std::string_view word, const client::Instance& instance) {
    const auto by = [&](std::string_view engine) {
        return std::string(engine) + " " + std::string(word) + " " + word_for(instance.name, instance.id);
    };
    switch (engine_of(instance)) {
        case Engine::docker:
            return by("docker");
        case Engine::podman:
            return by("podman");
        case Engine::cri:
            return "crictl " + std::string(word) + " " + short_id(instance.id);
        case Engine::none:
            break;
    }
    return by("docker") + ", or " + by("podman");
}

std::string journal_of(std::string_view cgroups) {
    constexpr std::string_view kService = ".service";
    std::string command;
    bool of_user = false;
    for (const std::string_view part : parts_in(cgroups)) {
        if (!part.ends_with(kService)) continue;
        if (part.starts_with("user@"))
            of_user = true;
        else
            command =
                std::string("journalctl ") + (of_user ? "--user " : "") + "-u " + model::shell_word(part);
    }
    return command;
}

}  // namespace cgpu::cgpuctl
