#pragma once

#include <string>

#include "daemon/app/instances/service.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/upgrade/upgrader.hpp"

namespace cgpu::bus {

/// What Describe answers: the node as JSON, in ASCII. The keys are those of cgpuctl's JSON
/// (client/cgpuctl/output/json.cpp).
[[nodiscard]] std::string describe_node(const app::Service& service, const app::Upgrader& upgrader,
                                        const app::UnmanagedContainers& unmanaged, const std::string& version,
                                        const app::ConfigurationProblems& problems);

}  // namespace cgpu::bus
