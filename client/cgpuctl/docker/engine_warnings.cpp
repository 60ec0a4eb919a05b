#include "client/cgpuctl/docker/engine_warnings.hpp"

#include <set>

#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/engine/running_docker.hpp"

namespace cgpu::cgpuctl {

std::vector<std::string> engine_warnings(const std::string& root) {
    std::set<std::string> files = {kDockerFile};
    for (const RunningDocker& docker : running_dockers(root + "/proc")) files.insert(docker.file);
    std::vector<std::string> warnings;
    for (const std::string& file : files) {
        const auto config = read_docker_config(root + file);
        if (!config) continue;
        std::string names;
        for (const std::string& name : lost_entries(*config)) names += (names.empty() ? "" : " and ") + name;
        if (names.empty()) continue;
        std::string& warning = warnings.emplace_back(file);
        warning.append(": another program has changed ").append(names);
        warning +=
            ", which cgpuctl runtime configure had set, so containers that rely on it may get whole GPUs. "
            "Try: ";
        warning.append(command_for(*config)).append(".");
    }
    return warnings;
}

}  // namespace cgpu::cgpuctl
