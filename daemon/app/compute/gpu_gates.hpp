#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/occupancy.hpp"
#include "core/schedule/slicer.hpp"
#include "core/trace/gpu_watch.hpp"
#include "daemon/app/compute/instance_processes.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// One GPU of the slicer thread: the slots of its instances, and their processes.
class GpuGates {
  public:
    GpuGates(const model::Gpu& gpu, model::Policy in_force, Nanos slice, Nanos hold);

    /// Updates slots, weights and the policy from the node. Unchanged values are not touched, and cause no
    /// step. True: an instance has got or left its slot.
    bool update(const model::Occupancy& now, const model::Gpu& gpu);
    /// `index`: of this GPU in the instance's orders.
    void add(const model::InstanceId& id, std::uint32_t index, std::shared_ptr<ProcessPages> pages);
    void remove(const model::InstanceId& id, const model::Process& process, Nanos now);

    [[nodiscard]] std::optional<std::size_t> slot_of(const model::InstanceId& id) const;
    /// As of the last step: the instance's launches are held here and none of its work runs.
    [[nodiscard]] bool only_waits(std::size_t slot) const {
        const auto& seat = seats_[slot];
        return seat && seat->processes && seat->processes->only_waits();
    }
    /// As of the last step: launches of the instance may pass here.
    [[nodiscard]] bool is_open(std::size_t slot) const {
        const auto& seat = seats_[slot];
        return seat && seat->processes && seat->processes->is_open();
    }
    /// What to report to the other GPUs of the instance in this slot, as of the last step.
    [[nodiscard]] schedule::GangState tell(std::size_t slot) const { return slicer_.tell(slot); }

    /// Reads the reports, decides, writes the gates.
    void step(Nanos now, const schedule::GangStates& gangs);
    /// By the last step: when time alone changes something; kForever: never. A time in the past if something
    /// has happened since.
    [[nodiscard]] Nanos due_at() const { return trace_ ? std::min(due_at_, trace_->due_at) : due_at_; }
    /// An instance on this GPU has rung: its pages must be read.
    void rung() { due_at_ = 0; }
    /// An instance whose report couldn't be true, and its process (host pid).
    struct Doubted {
        model::InstanceId id;
        std::int32_t process;
    };
    /// Those since the last call, each instance at most once a second.
    [[nodiscard]] std::vector<Doubted> take_doubted() { return std::exchange(doubted_, {}); }
    /// Whether the last step is so recent that usage is as of now.
    [[nodiscard]] bool is_current(Nanos now) const;
    /// The compute part of an instance's usage, as of the last step; the memory part is left as it is.
    void fill_usage(const model::InstanceId& id, Nanos now, InstanceUsage& usage);
    [[nodiscard]] std::vector<model::Process> members(const model::InstanceId& id) const;
    /// Of the instances whose compute is measured.
    [[nodiscard]] ComputeReports reports() const;

    /// As TracedCompute.
    [[nodiscard]] bool begin_trace(trace::Record start);
    void note(trace::Record record, const std::optional<model::InstanceId>& instance);
    void take_trace(std::vector<trace::Record>& empty);
    void end_trace(Nanos now, Nanos cost_of_others, std::vector<trace::Record>& empty);

  private:
    struct Sample {
        Nanos at;
        Nanos used;
    };
    /// Fields that every step touches come first, next to each other: steps are short and start with cold
    /// caches.
    struct Seat {
        std::optional<InstanceProcesses> processes{};
        Nanos sample_at = 0;
        std::deque<Sample> samples{};
        model::InstanceId id;
        std::uint32_t weight = 0;  ///< 0 while it is paused
        schedule::Ask ask = schedule::Ask::weight;
        bool high_priority = false;
        std::string name;
        Nanos due_until = 0;      ///< to which moment `due` is summed; 0: not begun
        double due = 0;           ///< the target share, summed over the time, in nanoseconds
        Nanos due_used = 0;       ///< what it had used then
        Nanos charged = 0;        ///< by the slicer, as far as its processes know
        Nanos tell_doubt_at = 0;  ///< not again before
    };
    /// What a trace needs, while there is one.
    struct Trace {
        trace::GpuWatch watch;
        Nanos due_at = 0;  ///< when the trace wants the next step
        Nanos cost = 0;    ///< time spent on it in steps
    };

    bool update_settings(const model::Occupancy& now, const model::Gpu& gpu);
    /// True: it has other settings now.
    bool update_seat(std::size_t slot, const model::Instance& instance, const model::Quota& quota);
    void join(const model::Instance& instance, const model::Quota& quota);
    /// After a restart of the daemon, while work runs that no gate has kept apart: whose, the readings say
    /// then.
    [[nodiscard]] bool settles(Nanos now, schedule::Readings& readings);
    void sample(Seat& seat, Nanos now);
    [[nodiscard]] bool doubts(Seat& seat, Nanos now);
    void sum_due(Seat& seat, std::size_t slot, Nanos now);
    void trace_step(Nanos now, const schedule::Readings& readings, const schedule::GateOrders& gates);
    [[nodiscard]] Seat* seat_of(const model::InstanceId& id);

    schedule::Slicer slicer_;
    Nanos began_ = 0;  ///< when it was asked first whether it settles; 0: not yet
    Nanos hold_;
    Nanos due_at_ = 0;
    Nanos stepped_at_ = 0;
    Nanos sum_due_at_ = 0;
    std::array<std::optional<Seat>, schedule::kSlots> seats_;
    std::vector<Doubted> doubted_;
    std::unique_ptr<Trace> trace_;  ///< null: nothing of this GPU is traced
};

}  // namespace cgpu::app
