#include "client/cgpuctl/docker/engine/docker_file.hpp"

#include "client/cgpuctl/docker/engine/engine_file.hpp"

namespace cgpu::cgpuctl {

client::Result<DockerFile> find_docker_file(const std::string& verb, const std::string& named,
                                            const std::vector<RunningDocker>& dockers) {
    const std::string file = named.empty() ? kDockerFile : named;
    for (const RunningDocker& docker : dockers)
        if (is_same_file(docker.file, file)) return DockerFile{docker.file, docker};
    if (!named.empty() || dockers.empty()) return DockerFile{file, std::nullopt};
    if (dockers.size() == 1) return DockerFile{dockers.front().file, dockers.front()};
    std::string all;
    for (const RunningDocker& docker : dockers) all += (all.empty() ? "" : ", ") + docker.file;
    return client::fail(client::ClientError::Kind::refused,
                        verb + ": several dockerds run, and none of them reads " + file +
                            ". Try: --file with the one that is meant: " + all + ".");
}

client::Result<DockerFile> find_docker_file(const std::string& verb, const std::string& named) {
    return find_docker_file(verb, named, running_dockers());
}

}  // namespace cgpu::cgpuctl
