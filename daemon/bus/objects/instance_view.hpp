#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "core/upgrade/version.hpp"
#include "daemon/app/queue/queue_store.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// (uuid, index, memory limit in bytes, weight, high priority), as the XML has it.
using BusQuota = sdbus::Struct<std::string, std::uint32_t, std::uint64_t, std::uint32_t, bool>;

/// The properties of org.cgpu1.Instance at one moment, in the bus's types.
struct InstanceView {
    std::string id;
    std::string name;
    std::string image;
    model::Owner owner;
    std::uint64_t created = 0;  ///< seconds since 1970
    std::string state;          ///< queued, reserved, waiting, running
    std::uint32_t pid = 0;
    std::vector<BusQuota> quotas;
    std::map<std::string, std::uint32_t>
        percentages;                  ///< of the compute, by UUID; none where it asked for slices
    std::vector<std::string> paused;  ///< UUIDs of the GPUs on which it is
    std::uint64_t time_limit = 0;     ///< seconds; 0: none
    std::uint64_t idle_limit = 0;     ///< seconds without work; 0: any
    std::string module_version;
};

/// Ascending, separated by blanks.
[[nodiscard]] std::string versions_text(const std::set<upgrade::Version>& versions);

[[nodiscard]] std::vector<BusQuota> quotas_of(const model::Node& node, const model::Instance& instance);
/// `engines`: the versions that run in its processes, by pid.
[[nodiscard]] InstanceView view_of(const model::Node& node, const model::Instance& instance,
                                   const std::map<std::int32_t, std::set<upgrade::Version>>& engines);

/// Of a request that waits.
[[nodiscard]] InstanceView view_of(const app::QueuedRequest& queued);

/// The names of the properties that differ. Constant properties are not compared.
[[nodiscard]] std::vector<compat::PropertyName> changed_properties(const InstanceView& before,
                                                                   const InstanceView& after);

}  // namespace cgpu::bus
