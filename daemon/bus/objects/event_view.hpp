#pragma once

#include <map>
#include <string>
#include <string_view>

#include "daemon/app/events/event.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The details of an event, as the signal Event has them.
[[nodiscard]] std::map<std::string, sdbus::Variant> details_of(const app::Event& event);

}  // namespace cgpu::bus
