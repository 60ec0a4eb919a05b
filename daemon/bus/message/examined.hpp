#pragma once

#include <map>
#include <string>

#include "daemon/app/ports/examination.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The result of Examine, as its description in the XML says.
[[nodiscard]] std::map<std::string, sdbus::Variant> facts_of(const app::Folders& folders,
                                                             const app::Result<app::ExaminedDriver>& driver);

}  // namespace cgpu::bus
