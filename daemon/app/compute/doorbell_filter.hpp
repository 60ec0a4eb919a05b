#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/app/compute/doorbell_sleepers.hpp"
#include "daemon/app/compute/doorbell_wait.hpp"
#include "daemon/app/compute/gpu_gates.hpp"
#include "daemon/app/compute/ring_budget.hpp"
#include "daemon/app/ports/pages.hpp"

namespace cgpu::app {

/// Chooses the doorbells that the slicer waits on. The slicer ignores instances that have nothing in flight
/// and whose launches are held on all of their GPUs, until one of their gates opens: their doorbells can't
/// change any decision. With 25 busy instances that is nearly all of them, and each futex in a wait costs the
/// kernel a look-up of its page. An instance that rings too often is polled instead (RingBudget). If there
/// are more doorbells than one wait takes, the slicer itself waits on those that rang most recently, and
/// helper threads wait on the others (DoorbellSleepers).
class DoorbellFilter {
  public:
    struct Place {
        GpuGates* gates;
        std::size_t slot;
    };
    struct Known {
        std::shared_ptr<const InstanceDoorbell> doorbell;
        std::vector<Place> places;  ///< the instance's slots on all of its GPUs
    };

    /// `word`: a futex that the slicer waits on, too. It is changed and woken when a doorbell fires that a
    /// helper thread waits on.
    explicit DoorbellFilter(std::atomic<std::uint32_t>& word) : sleepers_(word) {}

    /// Replaces the set of doorbells. Ring counts of doorbells that stay are kept.
    void set_doorbells(std::vector<Known> all);

    /// Call before a step reads the reports: notes all rings until now, and marks the GPUs of the instances
    /// that rang, so that their reports are read. `woken_by`: the index of the word that ended the wait of
    /// listen(); empty: none did.
    void take_rings(Nanos now, std::optional<std::size_t> woken_by = std::nullopt);
    /// Call after the step: adds the words to wait on. Each has the count that was read last, so a ring that
    /// nobody waited for ends the wait at once. Returns when an instance must be polled; kForever: never.
    [[nodiscard]] Nanos listen(DoorbellWait& wait, Nanos now);

    /// The helper threads of the slicer.
    [[nodiscard]] const DoorbellSleepers& sleepers() const { return sleepers_; }

  private:
    enum class Watch {
        by_slicer,   ///< the slicer waits on it
        by_sleeper,  ///< a helper thread does
        by_time,     ///< it rang too often: it is polled instead
        not_at_all,  ///< its instance is held, with nothing in flight
    };
    struct Doorbell {
        std::shared_ptr<const InstanceDoorbell> instance;
        std::vector<Place> places;
        std::uint32_t heard = 0;  ///< the count of rings that was seen last
        Watch watch = Watch::by_slicer;
        bool woken = false;  ///< it has ended a wait
        bool open = false;   ///< a gate of it was open after the last step
        Nanos rung_at = 0;
        // Separate budgets, so that a holder that synchronises after each of its short kernels, and rings
        // each time, is heard when its turn is over and others wait for its last kernel.
        RingBudget while_open = {};
        RingBudget while_closed = {};
    };

    static RingBudget& budget_of(Doorbell& doorbell) {
        return doorbell.open ? doorbell.while_open : doorbell.while_closed;
    }
    static void mark_rung(const Doorbell& doorbell);
    void take_back_from_sleepers();
    [[nodiscard]] Watch watch_for(Doorbell& doorbell, Nanos now);
    void hand_to_sleepers();

    std::vector<Doorbell> doorbells_;
    std::vector<std::size_t> watched_;  ///< of doorbells_, in the order of the words of the last listen()
    std::size_t words_before_ = 0;      ///< in that wait
    bool too_many_doorbells_ = false;   ///< that was so since know(); then the wait polls
    DoorbellSleepers sleepers_;
};

}  // namespace cgpu::app
