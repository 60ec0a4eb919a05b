// swarm: tells Docker what this node of a Swarm has.
#include "client/cgpuctl/docker/swarm.hpp"
#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/engine/docker_file.hpp"
#include "client/cgpuctl/docker/engine/docker_start.hpp"
#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "client/cgpuctl/docker/swarm_resources.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<DockerConfig> changed(const SwarmInput& input, client::Node& node, const DockerConfig& config) {
    if (input.remove) return without_swarm_resources(config);
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const SwarmResources resources = swarm_resources(*snapshot);
    if (resources.none())
        return client::fail(Kind::refused,
                            "swarm: no GPU of this node takes instances, so it has nothing to announce. Try: "
                            "cgpuctl doctor, which says why; cgpuctl swarm configure --remove.");
    return with_swarm_resources(config, resources);
}

std::string what_is_announced(const DockerConfig& config) {
    const auto resources = announced_resources(config);
    return resources ? "this node announces " + to_text(*resources) + " to Docker Swarm"
                     : "this node announces nothing of cgpu's to Docker Swarm";
}

/// Error (refused): dockerd wouldn't start with the resources in both places.
Result<void> beside_flags(const DockerFile& found, bool removes) {
    const auto start = found.docker
                           ? std::optional(DockerStart{found.docker->name(), "", found.docker->flags})
                       : is_same_file(found.file, kDockerFile) ? docker_service()
                                                               : std::nullopt;
    if (removes || !start || !start->flags.generic_resources) return {};
    return client::fail(Kind::refused,
                        start->name +
                            ": it is started with --node-generic-resource, and does not start any more if "
                            "resources are in " +
                            found.file +
                            ", too; nothing was changed. Try: move what its flags say of resources into the "
                            "file (node-generic-resources), and run this again.");
}

}  // namespace

Result<void> swarm(const SwarmInput& input, client::Node& node, Terminal& terminal) {
    const auto found = find_docker_file("swarm", input.file);
    if (!found) return tl::unexpected(found.error());
    if (auto may = beside_flags(*found, input.remove); !may) return may;
    const std::string& file = found->file;
    const auto old = read_docker_config(file);
    if (!old) return tl::unexpected(old.error());
    const auto next = changed(input, node, *old);
    if (!next) return tl::unexpected(next.error());
    if (*next == *old) {
        terminal.done(file + ": " + what_is_announced(*old) + "; nothing " +
                      (input.dry_run ? "would change." : "was changed."));
        return {};
    }
    if (input.dry_run) {
        terminal.done(file + ": it would be changed, so that " + what_is_announced(*next) + "; nothing was.");
        return {};
    }
    if (auto written = write_docker_config(file, *next); !written) return written;
    // dockerd doesn't take these over with a SIGHUP, and its restart ends the node's tasks: not done here.
    terminal.done(
        file + ": " + what_is_announced(*next) +
        " when dockerd starts the next time (systemctl restart docker), which ends its tasks here.");
    return {};
}

}  // namespace cgpu::cgpuctl
