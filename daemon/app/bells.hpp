#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/app/bell_sleepers.hpp"
#include "daemon/app/bell_wait.hpp"
#include "daemon/app/gpu_gates.hpp"
#include "daemon/app/pages.hpp"
#include "daemon/app/ring_budget.hpp"

namespace cgpu::app {

/// Which instances' bells the slicer sleeps on: those whose ring could be news. An instance that has nothing
/// in flight and whose launches are held on all of its GPUs can tell nothing new until a gate opens; with 25
/// busy instances that is nearly all of them, and every word waited on costs the kernel a look-up of its
/// page. Who rings too often is looked at by time (RingBudget). Where there are more bells than one wait
/// takes, the slicer itself sleeps on those that rang last, and has the others slept on (BellSleepers).
class Bells {
  public:
    struct Place {
        GpuGates* gates;
        std::size_t slot;
    };
    struct Known {
        std::shared_ptr<const InstanceBell> bell;
        std::vector<Place> places;  ///< the instance's slots on all of its GPUs
    };

    /// `word`: one of those that the slicer waits on; it is changed and woken when a bell rings that somebody
    /// else sleeps on.
    explicit Bells(std::atomic<std::uint32_t>& word) : sleepers_(word) {}

    /// These and no others. What was heard of those that were known before is not forgotten.
    void know(std::vector<Known> all);

    /// Before a step reads the reports: what was rung until now, it sees, and the GPUs of who rang know that
    /// they are to be read. `woken_by`: what the wait said that
    /// listen() was for; empty: there was none.
    void hear(Nanos now, std::optional<std::size_t> woken_by = std::nullopt);
    /// After the step: the words to wait on. Who is listened to again gets the value heard last, so a ring
    /// while nobody listened ends the wait at once. Returns when somebody is to be looked at by time;
    /// kForever: nobody.
    [[nodiscard]] Nanos listen(BellWait& wait, Nanos now);

    /// How often the threads have been woken so far that help the slicer, and how many there are.
    [[nodiscard]] std::uint64_t wakes_of_sleepers() const { return sleepers_.wakes(); }
    [[nodiscard]] std::size_t sleepers() const { return sleepers_.threads(); }

  private:
    enum class Care {
        here,        ///< the slicer sleeps on it
        elsewhere,   ///< a sleeper does
        by_time,     ///< it was too loud: nobody sleeps on it, but it is looked at
        not_at_all,  ///< it only waits
    };
    struct Ear {
        std::shared_ptr<const InstanceBell> bell;
        std::vector<Place> places;
        std::uint32_t heard = 0;
        Care care = Care::here;
        bool woken = false;  ///< somebody has woken on it
        bool open = false;   ///< a gate of it was open after the last step
        Nanos rung_at = 0;
        // Apart, so that a holder that synchronises after each of its short kernels, and rings each time, is
        // heard when its turn is over and others wait for its last one.
        RingBudget while_open = {};
        RingBudget while_closed = {};
    };

    static RingBudget& budget_of(Ear& ear) { return ear.open ? ear.while_open : ear.while_closed; }
    static void tell(const Ear& ear);
    void come_back();
    [[nodiscard]] Care care_for(Ear& ear, Nanos now);
    void have_some_slept_on();

    std::vector<Ear> ears_;
    std::vector<std::size_t> here_;      ///< of ears_, in the order of the words of the last listen()
    std::size_t words_before_ = 0;       ///< in that wait
    bool too_many_to_sleep_on_ = false;  ///< that was so since know(); then the wait polls
    BellSleepers sleepers_;
};

}  // namespace cgpu::app
