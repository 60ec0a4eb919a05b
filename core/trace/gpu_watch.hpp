#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/schedule/base/nanos.hpp"
#include "core/schedule/base/reading.hpp"
#include "core/schedule/turn.hpp"
#include "core/trace/buffer.hpp"

namespace cgpu::trace {

/// Makes the records of one GPU from the steps of its slicer, by comparing each step with the one before. No
/// clock: times are the caller's, CLOCK_MONOTONIC nanoseconds. All durations end where a step saw the change,
/// and steps come at least every few milliseconds while there is a trace.
class GpuWatch {
  public:
    /// What a step says of one instance.
    struct Seen {
        schedule::Reading reading;
        std::uint64_t launches = 0;  ///< let through so far
        schedule::GateOrder gate;    ///< by the step
    };
    using SeenSlots = std::array<std::optional<Seen>, schedule::kSlots>;

    /// The trace begins. `most_records`: what the buffer holds.
    GpuWatch(Nanos now, std::size_t most_records) : began_(now), buffer_(most_records) {}

    /// An instance has the slot from now on. Returns its track.
    std::uint16_t joined(std::size_t slot, Nanos now, const std::string& id, const std::string& name,
                         int weight, bool high_priority);
    void left(std::size_t slot, Nanos now);
    /// A step was made. `turn`: the one that runs after it.
    void step(Nanos now, const SeenSlots& slots, const std::optional<schedule::Turn>& turn);
    /// Of something else. Its track is that of the slot; empty: the GPU's own.
    void note(Record record, std::optional<std::size_t> slot);
    /// The trace ends: writes what is still going on, and the last record. The costs are times spent on the
    /// trace, as Kind::end has them.
    void finish(Nanos now, Nanos cost_of_slicer, Nanos cost_of_others);

    [[nodiscard]] Buffer& buffer() { return buffer_; }

  private:
    struct Track {
        std::uint16_t number = 0;  ///< 0: the slot has none
        bool read = false;         ///< there was a reading in the trace
        Nanos used = 0;            ///< by the last reading
        Nanos used_at_turn = 0;    ///< at the end of its last turn
        std::uint64_t launches = 0;
        Nanos worked_until = 0;  ///< the end of the last work record
        Nanos unwritten = 0;     ///< measured, and in no work record yet
        std::optional<Nanos> waits_since;
        Nanos waited_before = 0;  ///< time waited by the first reading of the wait
        Nanos waited = 0;         ///< by the last reading
        std::optional<Nanos> open_since;
        bool free = false;
    };

    void see_work(Track& track, Nanos now, const Seen& seen);
    void write_rest_of_work(Track& track, Nanos now);
    void see_gate(Track& track, Nanos now, const Seen& seen, bool holds);
    void end_wait(Track& track, Nanos now);
    void end_open(Track& track, Nanos now);
    void end_turn(Nanos now, std::int64_t more_flags);
    [[nodiscard]] Nanos in_trace(Nanos time) const { return time < began_ ? began_ : time; }

    Nanos began_;
    Buffer buffer_;
    std::array<Track, schedule::kSlots> tracks_;
    std::uint16_t last_track_ = 0;
    std::optional<schedule::Turn> turn_;  ///< after the last step
};

}  // namespace cgpu::trace
