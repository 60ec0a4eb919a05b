// Whether Docker knows cgpu's runtime: its file, and the dockerd that runs.
#include <algorithm>
#include <optional>

#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/engine/docker_info.hpp"
#include "client/cgpuctl/docker/engine/running_docker.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kDocker = "Docker";
constexpr const char* kRegister = "cgpuctl runtime configure";

/// Of an entry of `runtimes`; empty: it has none.
std::string path_of(const OrderedJson& entry) {
    const auto path = entry.is_object() ? entry.find("path") : entry.end();
    return entry.is_object() && path != entry.end() && path->is_string() ? path->get<std::string>() : "";
}

Finding missing(const std::string& file, const std::string& name, const std::string& path) {
    return {Level::problem, kDocker,
            file + ": its runtime " + name + " is " + path + ", which does not exist",
            "containers with --runtime=" + name + " don't start",
            name == "cgpu" ? std::string(kRegister) : "install it, or delete the entry from the file"};
}

/// What `cgpuctl runtime configure` wrote and another program has overwritten. Under a name that is NVIDIA's
/// now, containers start and have no limit; without the name or the default they don't start, or get no GPU.
Findings check_lost(const std::string& file, const DockerConfig& config) {
    const auto lost = lost_entries(config);
    if (lost.empty()) return {};
    std::string names;
    for (const std::string& name : lost) names += (names.empty() ? "" : " and ") + name;
    const auto chosen = config.values.find("default-runtime");
    const bool other_default = chosen != config.values.end() && *chosen != "runc";
    const bool unlimited = std::ranges::find(lost, "runtimes.nvidia") != lost.end() ||
                           (other_default && std::ranges::find(lost, "default-runtime") != lost.end());
    return {{unlimited ? Level::problem : Level::warning, kDocker,
             file + ": cgpuctl runtime configure had set " + names + ", and another program has changed that",
             unlimited ? "containers that rely on it get whole GPUs, whatever part they request"
                       : "containers that rely on it don't start, or get no GPU",
             command_for(config) + ", or cgpuctl runtime configure --remove to do without it"}};
}

Findings check_registration(const Host& host, const std::string& file, const DockerConfig& config,
                            const DockerFlags& flags) {
    const auto runtimes = config.values.find("runtimes");
    const OrderedJson none = OrderedJson::object();
    const OrderedJson& all = runtimes != config.values.end() && runtimes->is_object() ? *runtimes : none;
    Findings findings = check_lost(file, config);
    if (!all.contains("cgpu")) {
        if (flags.runtimes.contains("cgpu"))
            return {ok(kDocker, "the runtime cgpu is registered by dockerd's flags")};
        if (findings.empty())
            findings.push_back({Level::warning, kDocker, file + " has no runtime cgpu",
                                "docker run --runtime=cgpu is refused", kRegister});
        return findings;
    }
    for (const auto& [name, entry] : all.items()) {
        const std::string path = path_of(entry);
        if (path.empty() || path.front() != '/' || host.executable(path)) continue;
        findings.push_back(missing(file, name, path));
    }
    const auto chosen = config.values.find("default-runtime");
    const std::string by_default =
        chosen != config.values.end() && chosen->is_string() ? chosen->get<std::string>() : "runc";
    if (by_default != "runc" && !all.contains(by_default))
        findings.push_back({Level::problem, kDocker,
                            file + ": its default-runtime " + by_default + " is none of its runtimes",
                            "dockerd does not start with it",
                            "cgpuctl runtime configure --default, or correct the file by hand"});
    if (findings.empty())
        findings.push_back(ok(kDocker, "the runtime cgpu is registered" +
                                           std::string(by_default == "cgpu" ? ", and is the default" : "")));
    return findings;
}

/// Whether the dockerd that runs has what its file says.
Findings check_in_force(const RunningDocker& docker, const DockerConfig& config) {
    const auto info = ask_docker(docker_sockets(docker, config));
    if (!info) return {unchecked(kDocker, docker.name() + " did not answer", info.error().text)};
    const auto runtimes = config.values.find("runtimes");
    const auto runtime = info->runtimes.find("cgpu");
    std::string missing;
    if (runtimes != config.values.end() && runtimes->is_object() && runtimes->contains("cgpu") &&
        (runtime == info->runtimes.end() || !is_cgpu_runtime(runtime->second)))
        missing = "the runtime cgpu";
    else if (is_default_runtime(config.values))
        if (const auto chosen = config.values["default-runtime"].get<std::string>();
            info->default_runtime != chosen)
            missing = "the default-runtime " + chosen;
    if (missing.empty()) return {};
    return {{Level::problem, kDocker,
             docker.name() + " doesn't have " + missing + ", which is in " + docker.file + "; it has " +
                 to_text(*info),
             "containers don't start, or get whole GPUs, until it takes the file",
             "systemctl reload docker, and then journalctl -u docker, which says why it doesn't take it"}};
}

/// The dockerd that reads Docker's usual file, or the only one that there is.
std::optional<RunningDocker> find_docker(const Host& host) {
    auto all = running_dockers(host.at("/proc"));
    for (RunningDocker& docker : all)
        if (docker.file == kDockerFile) return std::move(docker);
    if (all.size() != 1) return std::nullopt;
    return std::move(all.front());
}

}  // namespace

Findings check_docker(const Look& look) {
    const auto docker = find_docker(look.host);
    const std::string file = docker ? docker->file : kDockerFile;
    if (!docker && !look.host.has_program("dockerd") && !look.host.exists(file))
        return {ok(kDocker, "it is not installed")};
    const auto config = read_docker_config(look.host.at(file));
    if (!config && config.error().kind == client::ClientError::Kind::not_authorized)
        return {for_root(kDocker, file)};
    if (!config) return {from_message(Level::problem, kDocker, config.error().text)};
    Findings findings = check_registration(look.host, file, *config, docker ? docker->flags : DockerFlags{});
    if (!docker) return findings;
    Findings in_force = check_in_force(*docker, *config);
    if (in_force.empty() || in_force.front().level == Level::unchecked) return findings;
    if (findings.front().level == Level::ok) findings.clear();
    findings.push_back(std::move(in_force.front()));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
