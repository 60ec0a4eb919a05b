#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/kept.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "dbus/compat.hpp"

/// Lists of org.cgpu1.Manager in the bus's types, with the keys that the XML names.
namespace cgpu::bus {

using Entry = std::map<std::string, sdbus::Variant>;

[[nodiscard]] std::vector<Entry> entries_of(const model::Kept& kept);
[[nodiscard]] std::vector<Entry> entries_of(const app::UnmanagedContainers::All& containers);
[[nodiscard]] std::vector<Entry> entries_of(const app::ConfigurationProblems& problems);
[[nodiscard]] std::vector<Entry> entries_of(const app::ConfigurationValues& values);

}  // namespace cgpu::bus
