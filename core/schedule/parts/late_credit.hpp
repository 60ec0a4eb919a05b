#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// How much of a turn a holder may have been late without being charged for it. That it was late is a claim
/// of its processes; nothing else tells. But where the host has no free core, all instances are late, by
/// about as much in each turn, or by the same part of their turns if each of their kernels is waited for. So
/// an instance is believed as much as the least late one of the others, and what it didn't need in one turn
/// it may need in later ones.
class LateCredit {
  public:
    /// So much of a turn of the slot is believed, of which `held` have passed.
    [[nodiscard]] Nanos allowed(std::size_t slot, Nanos held, Nanos now) const;
    /// Such a turn has ended. `claimed`: how late the holder was in it, by its reports and the clock;
    /// `believed`: the part that it wasn't charged for, at most what is allowed.
    void end(std::size_t slot, Nanos held, Nanos claimed, Nanos believed, Nanos now);
    void forget(std::size_t slot) { members_[slot] = {}; }

  private:
    /// Averages over the last turns.
    struct Member {
        bool known = false;
        double late = 0;
        double held = 0;
        Nanos saved = 0;  ///< not needed in earlier turns
        Nanos ended_at = 0;
    };
    struct Lateness {
        double each_turn = 0;
        double part = 0;  ///< of a turn
    };
    [[nodiscard]] Lateness least_of_others(std::size_t slot, Nanos now) const;

    std::array<Member, kSlots> members_;
};

}  // namespace cgpu::schedule
