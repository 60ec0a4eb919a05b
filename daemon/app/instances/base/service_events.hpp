#pragma once

#include <optional>
#include <string>

#include "daemon/app/events/event.hpp"

namespace cgpu::app {

/// A new instance has got this quota.
[[nodiscard]] Event admitted(const model::Instance& instance, const model::Quota& quota, const Who& who);

/// `set`: for this node; else the configuration's holds again.
[[nodiscard]] Event default_memory_set(model::Bytes before, model::Bytes now, bool set, bool until_reboot,
                                       const std::optional<Who>& by);

/// Why a GPU takes no instance while this process is on it.
[[nodiscard]] std::string shared_by(const model::MpsServer& server);

}  // namespace cgpu::app
