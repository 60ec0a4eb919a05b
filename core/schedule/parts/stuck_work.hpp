#pragma once

#include <optional>

#include "core/schedule/base/reading.hpp"
#include "core/schedule/base/settings.hpp"

namespace cgpu::schedule {

/// Tells when work of one instance that runs behind its closed gate is stuck: it should have been done by
/// now, so it may be waiting for a launch that is held, at this gate or on another GPU.
///
/// The times that it answers are kForever where nothing runs behind a closed gate.
class StuckWork {
  public:
    struct Patience {
        DrainTuning drain;
        StuckTuning stuck;
    };

    /// The end of each step: whether the instance is without a turn, or the gate of its turn is closed.
    void set_outside(bool outside, Nanos now);
    [[nodiscard]] bool outside() const { return outside_; }
    /// Something of the work was done.
    void moved(Nanos now);

    /// When the work is overdue beyond doubt.
    [[nodiscard]] Nanos surely_at(const Reading& level, const Patience& patience) const;
    /// When it may be taken for stuck: sooner where the instance is known to be ganged.
    [[nodiscard]] Nanos at(const Reading& level, const Patience& patience, bool ganged) const;
    /// When one of the instance's own launches at this gate may be what the work waits for: sooner where
    /// that was so the last time.
    [[nodiscard]] Nanos own_at(const Reading& level, const Patience& patience) const;

    /// One launch may pass the closed gate, up to `limit` (as GateOrder::limit), until something moves.
    void let_through(Nanos now, Nanos limit) { let_through_ = {now, limit}; }
    /// The limit of the launch that was let through, while nothing has moved since.
    [[nodiscard]] std::optional<Nanos> limit() const;

  private:
    struct LetThrough {
        Nanos at, limit;
    };
    [[nodiscard]] Nanos overdue_at(const Reading& level, const Patience& patience, Nanos wait) const;

    bool outside_ = false;
    Nanos freed_after_ = kForever;  // something moved so long after a launch was let through, the last time
    Nanos moved_at_ = 0;            // the gate closed, or something of the work was done
    std::optional<LetThrough> let_through_;
};

}  // namespace cgpu::schedule
