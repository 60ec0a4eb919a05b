#pragma once

#include <cstdint>

#include "core/model/instance_id.hpp"
#include "core/model/uuid.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// `/org/cgpu1/gpu/…`, `/org/cgpu1/instance/…`, encoded as sd_bus_path_encode does it.
[[nodiscard]] sdbus::ObjectPath path_of(const model::Uuid& gpu);
[[nodiscard]] sdbus::ObjectPath path_of(const model::InstanceId& instance);
/// `/org/cgpu1/job/…`, of an upgrade.
[[nodiscard]] sdbus::ObjectPath path_of_job(std::uint64_t id);

}  // namespace cgpu::bus
