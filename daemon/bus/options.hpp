#pragma once

#include <map>
#include <string>

#include "daemon/app/ports.hpp"
#include "daemon/app/service.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The a{sv} at the end of every method that changes something.
using OptionMap = std::map<std::string, sdbus::Variant>;

/// Refused (invalid), by name: an unknown key, a value of the wrong type.
[[nodiscard]] app::Result<app::Options> read_options(const OptionMap& given);

}  // namespace cgpu::bus
