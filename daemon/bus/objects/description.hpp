#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/view/snapshot.hpp"
#include "daemon/app/instances/service.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/upgrade/upgrader.hpp"

namespace cgpu::bus {

/// What the bus was told and shows again.
struct Told {
    std::string version;  ///< cgpud's
    /// As the GPUs' objects show them: of when the node last changed, by index; the text of each.
    std::vector<std::string> gpus = {};
    app::ConfigurationProblems configuration_problems = {};
    std::vector<std::string> newer_driver_functions = {};
    std::map<std::string, std::uint64_t> event_counts = {};  ///< by type
    /// Processes that got no driver: the last one for each reason.
    std::map<model::InstanceId, std::map<std::string, std::uint32_t>> without_driver = {};
};

/// The node at this moment with these figures of usage, which are `age` nanoseconds old.
[[nodiscard]] view::Snapshot describe_node(app::Service& service, const app::Upgrader& upgrader,
                                           const app::UnmanagedContainers& unmanaged, const Told& told,
                                           const app::NodeUsage& usage, app::Nanos age);

}  // namespace cgpu::bus
