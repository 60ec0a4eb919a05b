#pragma once

#include <optional>
#include <vector>

#include "tests/sim/model/record.hpp"
#include "tests/sim/model/timeline_state.hpp"

namespace simgpu {

/// An operation: the `sequence`-th of a queue.
struct Position {
    std::uint32_t gpu;
    std::uint32_t client;
    std::uint32_t queue;
    std::uint64_t sequence;
};

/// Advances the GPUs in time. It has no clock, no thread and no I/O: the caller passes the time.
///
/// Contexts with work take turns of `slice`, with `switch_cost` between two of them; a context that is alone
/// renews its slice. Within a context the streams share the GPU equally, but a kernel does not begin while a
/// more urgent one has work there. Operations of one queue run in order. The copy engines serve all contexts
/// at any time and share their bandwidth equally among the copies in flight.
class Timeline {
  public:
    enum class Stamps { write, leave };  ///< Whether to write started/completed into the records.

    Timeline(TimelineState& state, RingTable rings, Stamps stamps);

    /// Runs to `to`. Operations that are published later run from then on, whatever their arrival time.
    void advance(Nanoseconds to);

    /// Runs until `target` has completed, at most to `limit`.
    /// @return when it completed; nothing if it had not by `limit`.
    std::optional<Nanoseconds> advance_until(const Position& target, Nanoseconds limit);

  private:
    /// A queue with operations that have not completed.
    struct Lane {
        std::uint32_t gpu;
        std::uint32_t client;
        std::uint32_t queue;
        std::uint64_t tail;
        Ring* ring;
        QueueState* state;
    };

    void collect_lanes();
    void run(Nanoseconds to, const Position* target);
    void settle_and_dispatch();
    bool settle();
    bool settle_head(Lane& lane);
    bool dispatch(std::uint32_t gpu);
    void begin(Lane& lane, Record& record);
    void complete(Lane& lane, Record& record);
    void execute(Nanoseconds to);
    void execute_copies(std::uint32_t gpu, Nanoseconds elapsed);

    Nanoseconds next_event(Nanoseconds limit) const;
    Nanoseconds head_becomes_ready(const Lane& lane) const;
    bool arrived(const Lane& lane) const;
    bool needs_gpu(const Lane& lane) const;
    bool holds_gpu(const Lane& lane) const;
    bool executing(const Lane& lane) const;
    bool copying(const Lane& lane) const;
    bool outranked(const Lane& lane, const Record& record) const;
    bool word_is_ready(const Record& record) const;
    bool wait_is_over(const Record& record) const;
    bool all_met(const Lane& lane, const Record& record) const;
    bool passed(const Position& target) const;
    std::int32_t next_client(std::uint32_t gpu) const;
    std::int64_t executing_count(std::uint32_t gpu) const;
    std::int64_t copying_count(std::uint32_t gpu, std::uint32_t engine) const;

    TimelineState& state_;
    RingTable rings_;
    Stamps stamps_;
    std::vector<Lane> lanes_;
};

}  // namespace simgpu
