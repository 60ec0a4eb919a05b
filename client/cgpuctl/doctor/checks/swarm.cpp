// Whether what this node announces to Docker Swarm is true, and whether services get cgpu's runtime.
#include <utility>

#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/swarm_resources.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kSwarm = "Docker Swarm";
constexpr const char* kAgain = "cgpuctl swarm configure";
constexpr const char* kRestart = ", and then systemctl restart docker, which ends the node's tasks";

/// `what`: of Docker's file.
Finding warning(const std::string& what, const char* why, std::string fix) {
    return {Level::warning, kSwarm, kDockerFile + what, why, std::move(fix)};
}

/// What the file announces, against the GPUs. dockerd reads it when it starts; nobody else changes it when a
/// GPU comes or goes.
void check_numbers(const SwarmResources& announced, const SwarmResources& real, Findings& findings) {
    if (announced == real) return;
    const bool too_much = announced.memory_mib > real.memory_mib || announced.instances > real.instances;
    findings.push_back(warning(
        " announces " + to_text(announced) + ", and the GPUs have " + to_text(real),
        too_much ? "Swarm puts tasks here that cgpud refuses" : "Swarm leaves a part of the GPUs unused",
        std::string(kAgain) + (real.none() ? " --remove" : "") + kRestart));
}

/// Other keys of the file that make what it announces useless.
void check_others(const OrderedJson& values, Findings& findings) {
    if (!is_default_runtime(values))
        findings.push_back(warning(" announces GPUs, and its default-runtime is not cgpu's",
                                   "Swarm's tasks get no part of a GPU: a service can't name a runtime",
                                   "cgpuctl runtime configure --default"));
    const auto live = values.find("live-restore");
    if (live != values.end() && *live == true)
        findings.push_back(warning(" announces GPUs, and has live-restore",
                                   "dockerd refuses to be in a swarm with it",
                                   "remove live-restore from the file"));
}

}  // namespace

Findings check_swarm(const Look& look) {
    const auto config = read_docker_config(look.host.at(kDockerFile));
    if (!config) {
        if (config.error().kind == client::ClientError::Kind::not_authorized)
            return {for_root(kSwarm, kDockerFile)};
        return {unchecked(kSwarm, "what is announced to it", std::string(kDockerFile) + " can't be read")};
    }
    const auto announced = announced_resources(*config);
    if (!announced) return {ok(kSwarm, "no GPU is announced to it")};
    if (!look.snapshot)
        return {unchecked(kSwarm, "whether " + to_text(*announced) + " is what the GPUs have", kNoDaemon)};
    Findings findings;
    check_numbers(*announced, swarm_resources(*look.snapshot), findings);
    check_others(config->values, findings);
    if (findings.empty()) findings.push_back(ok(kSwarm, "this node announces " + to_text(*announced)));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
