#pragma once

#include <cstdint>

#include "core/wire/pages.hpp"

namespace cgpu::module {

enum class Passage : std::uint32_t {
    free = 1,     ///< launch, unmetered
    metered = 2,  ///< launch, as the window allows
    shut = 3,     ///< wait
};

/// The state of a gate at one moment.
struct Look {
    Passage passage = Passage::shut;
    std::uint32_t seq = 0;
    bool ring = false;
    std::int64_t room_ns = 0;    ///< metered: GPU time left until the limit
    std::int64_t window_ns = 0;  ///< metered: GPU time that may be in flight
    const wire::Word* word = nullptr;
    std::int64_t until_ns = 0;  ///< shut: ask again then at the latest
};

/// The daemon's gate is free, open (up to a limit) or closed; what it is for this process:
/// - unconnected: open or shut, as the last pages said of the daemon's loss.
/// - free ⇄ open ⇄ closed: as the daemon writes. An open one whose limit is spent is shut like a closed one.
/// - shut → rung: the first launch that finds it shut rings the doorbell, once.
/// - rung → not rung: a launch has passed.
/// - shut → expired: the daemon has said nothing for its hold time since then, and the job doesn't stay
///   closed on the daemon's loss: launches pass, metered. Any word of the daemon ends that.
///
/// Reads one GPU's gate for one process: whether launches pass, whether to ring the doorbell, and whether the
/// gate has expired because the daemon is silent. The daemon's death must stop no job.
class LaunchGate {
  public:
    /// The orders of a new connection; null: there are none any more (the old page must still be mapped
    /// then).
    void bind(const wire::Orders* orders, std::uint32_t gpu);

    /// `spent_ns`: used and in-flight time together.
    Look look(std::int64_t spent_ns, std::int64_t now_ns);

    /// Whether another instance waits for this process to drain, or a launch of its own that has reached its
    /// limit.
    bool drain_awaited() const;

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(on_loss_);
        visit(rung_);
        visit(rung_seq_);
        visit(heard_ns_);
    }

  private:
    Look shut(Look look, const wire::Gate& gate, std::int64_t now_ns);
    Look unconnected(std::int64_t now_ns) const;

    const wire::Orders* orders_ = nullptr;
    std::uint32_t gpu_ = 0;
    wire::OnLoss on_loss_ = wire::OnLoss::open;
    bool rung_ = false;           ///< since a launch passed last
    std::uint32_t rung_seq_ = 0;  ///< the gate's seq when the daemon was last heard of
    std::int64_t heard_ns_ = 0;   ///< when it was rung, or answered since
};

}  // namespace cgpu::module
