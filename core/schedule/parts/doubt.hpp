#pragma once

#include "core/schedule/base/nanos.hpp"
#include "core/schedule/base/settings.hpp"

namespace cgpu::schedule {

/// Whether an instance's reports are doubted: they can't be true, or don't go with the gate that was open for
/// it. An honest instance that is late, slow, stuck or has very long kernels gives no cause for it, or only
/// where that makes no difference to it.
class Doubt {
  public:
    /// What was seen of the instance in one step.
    struct Seen {
        Nanos dt = 0;
        Nanos fresh = 0;         ///< measured in dt
        Nanos charged = 0;       ///< for dt
        bool holds = false;      ///< it had its turn, and others waited
        bool open = false;       ///< and its gate was open
        bool let_out = false;    ///< its gate was open outside its turn
        bool closed = false;     ///< its gate was closed
        bool undrained = false;  ///< work of it is known to run beside others'
        bool shared = false;     ///< work of others may run beside its turn
        bool wants = false;      ///< a launch waits, or waited when the turn began and nothing is seen of it
        Nanos in_flight_before = 0, in_flight = 0;
        bool impossible = false;  ///< a report can't be true
    };
    void see(const Seen& seen, Nanos now, const DoubtTuning& tuning);
    [[nodiscard]] bool is() const { return doubted_; }

  private:
    Nanos unseen_ = 0;    ///< time in which it must have used the GPU, and nothing of that was seen
    Nanos hidden_ = 0;    ///< use that was measured outside its turns, of work that wasn't reported before
    Nanos standing_ = 0;  ///< time for which its work in flight hardly went on in its turns
    Nanos until_ = 0;
    bool doubted_ = false;
};

}  // namespace cgpu::schedule
