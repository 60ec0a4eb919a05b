#pragma once

#include <map>
#include <string>

#include "daemon/app/ports.hpp"
#include "daemon/app/service.hpp"
#include "daemon/app/upgrader.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The a{sv} at the end of every method that changes something.
using OptionMap = std::map<std::string, sdbus::Variant>;

/// Whether a method knows the option `force` beside `dry-run`, which all know.
enum class Force { unknown, known };

/// Refused (invalid), by name: a key that the method doesn't know, a value of the wrong type.
[[nodiscard]] app::Result<app::Options> read_options(const OptionMap& given, Force force = Force::unknown);

/// The options of a job: dry-run, timeout and, where it isn't hot, drain.
[[nodiscard]] app::Result<app::UpgradeOptions> read_job_options(const OptionMap& given, upgrade::Kind kind);

}  // namespace cgpu::bus
