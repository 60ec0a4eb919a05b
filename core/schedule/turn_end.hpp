#pragma once

#include <cstdint>

namespace cgpu::schedule {

/// The rule by which a turn ended: Turns::is_up has them in their order, with their reasons.
enum class TurnEnd : std::uint8_t {
    settings_changed,
    budget_used,
    bucket_empty,
    high_priority_waits,
    gang_dismissed,
    other_gang_called,
    holder_idle,
    holder_pauses,
    overtaken,
};

}  // namespace cgpu::schedule
