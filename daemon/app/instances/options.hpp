#pragma once

#include <cstdint>
#include <optional>

#include "core/model/node.hpp"
#include "daemon/app/events/event.hpp"

namespace cgpu::app {

/// The options of every change.
struct Options {
    bool dry_run = false;  ///< check everything, change nothing
    bool force = false;    ///< set_memory: allow a limit below the current use
    /// set_weight, set_high_priority, set_memory: also for the next starts of the instance's name.
    bool persist = false;
    /// Of GPUs, and the default memory: only until the machine is started again.
    bool runtime = false;
    /// Refused (changed) if the node has another generation.
    std::optional<std::uint64_t> if_generation = std::nullopt;
    /// Refused (not_permitted) if an instance of another user is changed, or has more of anything afterwards.
    std::optional<std::uint32_t> only_lowered_of = std::nullopt;
    std::optional<Who> by = std::nullopt;  ///< who asked for it; empty: cgpud itself
};

[[nodiscard]] inline model::Lasts lasts(const Options& options) {
    return options.runtime ? model::Lasts::until_reboot : model::Lasts::until_set_again;
}

}  // namespace cgpu::app
