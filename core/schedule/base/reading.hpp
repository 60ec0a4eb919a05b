#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What an instance's processes report, merged by the caller. These are levels, not events: reading twice or
/// missing one does no harm. No claim is believed beyond its bounds (see ReadingFilter).
struct Reading {
    bool wants = false;            ///< a launch is held at the gate
    Nanos waited = 0;              ///< time that launches waited, at the gate or for others', cumulative
    Nanos used = 0;                ///< GPU time measured so far, cumulative: union of its busy intervals
    Nanos in_flight_estimate = 0;  ///< whole estimate of the work launched and not yet measured
    Nanos remaining = 0;           ///< the part of that which is left to run now
    bool syncing = false;          ///< a thread is blocked until its GPU work is done
    Nanos usual_gap = 0;           ///< how long it usually is without work after such a wait
    bool unmeasured = false;       ///< work in flight of a kind never measured: its estimate is a guess
    bool alone_process = true;     ///< false: several processes, so `used` is no union of intervals
    bool stale = false;            ///< its page is unchanged since 100 ms after its predicted drain
    bool doubtful = false;         ///< a report since the last reading can't be true (PageCheck)
    bool unsettled = false;        ///< work that no gate kept apart may run: it was launched without a daemon
};

/// What an instance's launches may do from now on.
struct GateOrder {
    enum class State {
        closed,  ///< launches wait
        open,    ///< launches pass while used + in-flight estimate < limit
        free,    ///< launches pass, nothing is enforced
    };
    State state = State::closed;
    Nanos limit = 0;         ///< kForever: no bound but the in-flight window
    bool contended = false;  ///< others want the GPU too: keep the window small, ring when drained
    bool alone = false;      ///< no other instance is on the GPU: queued work makes none wait
    bool overlap = false;  ///< work of another may run at the same time: durations learnt now are provisional
    /// Its kernels wait for kernels on other GPUs: durations learnt may include waits.
    bool waits_across_gpus = false;
};

using Readings = std::array<Reading, kSlots>;
using GateOrders = std::array<GateOrder, kSlots>;

/// The result of a step.
struct Decision {
    GateOrders gates;
    Nanos wake_at = kForever;  ///< when time alone changes something; kForever: only a reading can
};

}  // namespace cgpu::schedule
