#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/node/values/configuration.hpp"
#include "client/node/values/examination.hpp"
#include "client/node/values/snapshot.hpp"
#include "dbus/compat.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {

/// (uuid, index, memory limit in bytes, weight, high priority), as the XML has it.
using BusQuota = sdbus::Struct<std::string, std::uint32_t, std::uint64_t, std::uint32_t, bool>;

[[nodiscard]] std::vector<Quota> to_quotas(const std::vector<BusQuota>& quotas);

/// Converts what GetConfiguration of org.cgpu1.Manager returns. Throws sdbus::Error.
[[nodiscard]] std::vector<ConfigurationValue> to_configuration(
    const std::vector<std::map<std::string, sdbus::Variant>>& entries);

/// Everything that the daemon shows, of one moment and by one call. `service`: org.cgpu1 (the bus starts
/// cgpud if it isn't there), or the unique name of cgpud's connection. Throws sdbus::Error.
[[nodiscard]] Snapshot read_snapshot(sdbus::IConnection& connection,
                                     const std::string& service = bus_names::kService);

/// The GPUs alone, without figures of usage. Throws sdbus::Error.
[[nodiscard]] std::vector<Gpu> read_gpus(sdbus::IConnection& connection);

/// The result of Examine.
[[nodiscard]] Examination to_examination(const std::map<std::string, sdbus::Variant>& facts);

/// The job at this path. Throws sdbus::Error.
[[nodiscard]] Job read_job(sdbus::IConnection& connection, const std::string& path);

}  // namespace cgpu::client
