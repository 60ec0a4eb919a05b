#pragma once

#include <optional>

#include "core/schedule/base/reading.hpp"
#include "core/schedule/base/settings.hpp"

namespace cgpu::schedule {

/// Tells when one instance's work behind its closed gate is stuck: it should have finished by now, so it may
/// be waiting for a launch that is held, at this gate or on another GPU.
///
/// The times returned are kForever while no work runs behind a closed gate.
class StuckWork {
  public:
    struct Patience {
        DrainTuning drain;
        StuckTuning stuck;
        int sharers = 1;  ///< instances with work in flight: each takes as many times as long
    };

    /// Called at the end of each step: whether the instance has no turn, or the gate of its turn is closed.
    void set_outside(bool outside, Nanos now);
    [[nodiscard]] bool outside() const { return outside_; }
    /// Some of the work has finished.
    void moved(Nanos now);

    /// When the work is certainly overdue.
    [[nodiscard]] Nanos surely_at(const Reading& level, const Patience& patience) const;
    /// When it may be treated as stuck: earlier if the instance is known to be ganged.
    [[nodiscard]] Nanos at(const Reading& level, const Patience& patience, bool ganged) const;
    /// When the work may be waiting for one of the instance's own launches at this gate: earlier if that was
    /// so the last time.
    [[nodiscard]] Nanos own_at(const Reading& level, const Patience& patience) const;

    /// One launch may pass the closed gate, up to `limit` (as GateOrder::limit), until some work finishes.
    void let_through(Nanos now, Nanos limit) { let_through_ = {now, limit}; }
    /// After a while the gate is closed again, though nothing has finished.
    void expire(Nanos now, const Patience& patience);
    [[nodiscard]] Nanos expires_at(const Patience& patience) const;
    /// The limit of the launch that was let through, while no work has finished since and it hasn't expired.
    [[nodiscard]] std::optional<Nanos> limit() const;

  private:
    struct LetThrough {
        Nanos at, limit;
        bool expired = false;
    };
    [[nodiscard]] Nanos overdue_at(const Reading& level, const Patience& patience, Nanos wait) const;

    bool outside_ = false;
    Nanos freed_after_ = kForever;  // something moved so long after a launch was let through, the last time
    Nanos moved_at_ = 0;            // the gate closed, or something of the work was done
    std::optional<LetThrough> let_through_;
};

}  // namespace cgpu::schedule
