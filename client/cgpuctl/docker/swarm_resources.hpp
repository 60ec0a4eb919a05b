#pragma once

#include <cstdint>
#include <optional>

#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/node/values/snapshot.hpp"

/// What a node of a Docker Swarm has, as generic resources. Swarm can count whole numbers of a node, and
/// nothing of a single GPU.
namespace cgpu::cgpuctl {

/// Of the GPUs that take instances, added up. An underscore in a resource's name, because Swarm makes
/// variables of the names (DOCKER_RESOURCE_…), and a shell drops those with a hyphen.
struct SwarmResources {
    std::uint64_t memory_mib = 0;  ///< `cgpu_memory_mib`
    std::uint64_t instances = 0;   ///< `cgpu_instances`: the sum of max_inst

    [[nodiscard]] bool none() const { return memory_mib == 0 || instances == 0; }
    friend bool operator==(const SwarmResources&, const SwarmResources&) = default;
};

[[nodiscard]] SwarmResources swarm_resources(const client::Snapshot& snapshot);

/// What the configuration announces. Null: neither of the two. One that is missing or isn't a number is 0.
[[nodiscard]] std::optional<SwarmResources> announced_resources(const DockerConfig& config);

/// Replaces ours; others stay. Error (refused): `node-generic-resources` is not a list.
[[nodiscard]] client::Result<DockerConfig> with_swarm_resources(DockerConfig config,
                                                                const SwarmResources& resources);
/// Without ours; without the key if it has no others.
[[nodiscard]] DockerConfig without_swarm_resources(DockerConfig config);

/// `cgpu_memory_mib=16130 and cgpu_instances=20`
[[nodiscard]] std::string to_text(const SwarmResources& resources);

}  // namespace cgpu::cgpuctl
