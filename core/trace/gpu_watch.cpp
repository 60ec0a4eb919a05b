#include "core/trace/gpu_watch.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::trace {

using schedule::GateOrder;

namespace {
/// Measured GPU time that waits for room on its track is at most this.
constexpr Nanos kMostUnwritten = 20 * model::kMilli;
}  // namespace

std::uint16_t GpuWatch::joined(std::size_t slot, Nanos now, const std::string& id, const std::string& name,
                               int weight, bool high_priority) {
    tracks_[slot] = {};
    auto& track = tracks_[slot];
    track.number = ++last_track_;
    track.worked_until = now;
    buffer_.put({Kind::instance, track.number, now, now, {weight, high_priority ? 1 : 0}, id + '\n' + name});
    return track.number;
}

void GpuWatch::left(std::size_t slot, Nanos now) {
    auto& track = tracks_[slot];
    if (track.number == 0) return;
    if (turn_ && turn_->slot == slot) end_turn(now, 0);
    end_wait(track, now);
    end_open(track, now);
    write_rest_of_work(track, now);
    buffer_.put({Kind::left, track.number, now, now, {}, {}});
    track = {};
}

void GpuWatch::see_work(Track& track, Nanos now, const Seen& seen) {
    const auto used = seen.reading.used;
    const auto launches = static_cast<std::int64_t>(seen.launches - std::min(seen.launches, track.launches));
    if (!track.read) {
        // What was measured before the trace isn't the trace's.
        track.read = true;
        track.used = track.used_at_turn = used;
        track.launches = seen.launches;
        return;
    }
    const Nanos measured = used > track.used ? used - std::exchange(track.used, used) : 0;
    track.unwritten += measured;
    // Work is measured some time after it ended, so a reading may bring more than the time since the last
    // one. What doesn't fit there is written when there is room. If several processes measure at the same
    // time, there never is.
    const Nanos room = std::max<Nanos>(0, now - track.worked_until);
    if (track.unwritten == 0 || (measured == 0 && room < track.unwritten)) return;
    const Nanos length = std::min(track.unwritten, room);
    const Nanos beyond = std::max<Nanos>(0, track.unwritten - length - kMostUnwritten);
    track.launches = seen.launches;
    track.unwritten -= length + beyond;
    track.worked_until = now;
    buffer_.put({Kind::work,
                 track.number,
                 now - length,
                 now,
                 {length + beyond, launches, seen.reading.in_flight_estimate},
                 {}});
}

void GpuWatch::write_rest_of_work(Track& track, Nanos now) {
    if (track.unwritten > 0)
        buffer_.put({Kind::work, track.number, now, now, {std::exchange(track.unwritten, 0)}, {}});
}

void GpuWatch::end_wait(Track& track, Nanos now) {
    if (!track.waits_since) return;
    const Nanos began = *std::exchange(track.waits_since, std::nullopt);
    buffer_.put(
        {Kind::wait, track.number, began, now, {std::max<Nanos>(0, track.waited - track.waited_before)}, {}});
}

void GpuWatch::end_open(Track& track, Nanos now) {
    if (!track.open_since) return;
    const Nanos began = *std::exchange(track.open_since, std::nullopt);
    buffer_.put({Kind::open, track.number, began, now, {track.free ? 1 : 0}, {}});
}

void GpuWatch::see_gate(Track& track, Nanos now, const Seen& seen, bool holds) {
    track.waited = seen.reading.waited;
    const bool closed = seen.gate.state == GateOrder::State::closed;
    const bool waits = closed && seen.reading.wants;
    if (!waits) end_wait(track, now);
    if (waits && !track.waits_since) {
        track.waits_since = now;
        track.waited_before = track.waited;
    }
    // A gate that opens only because the instance's turn has come is in the record of the turn.
    const bool open = !closed && !holds;
    const bool free = seen.gate.state == GateOrder::State::free;
    if (!open || free != track.free) end_open(track, now);
    track.free = free;
    if (open && !track.open_since) track.open_since = now;
}

void GpuWatch::end_turn(Nanos now, std::int64_t more_flags) {
    const auto turn = *std::exchange(turn_, std::nullopt);
    auto& track = tracks_[turn.slot];
    if (track.number == 0) return;
    const Nanos measured = track.used - std::exchange(track.used_at_turn, track.used);
    const auto flags = (turn.priority ? kPriority : std::int64_t{0}) |
                       (turn.contended ? kContended : std::int64_t{0}) | more_flags;
    const Nanos begin = std::min(in_trace(turn.start), now);
    const Nanos closed = turn.closed_at ? std::clamp(*turn.closed_at, begin, now) : 0;
    buffer_.put({Kind::turn, track.number, begin, now, {measured, closed, flags}, {}});
}

void GpuWatch::step(Nanos now, const SeenSlots& slots, const std::optional<schedule::Turn>& turn) {
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
        if (slots[slot] && tracks_[slot].number != 0) see_work(tracks_[slot], now, *slots[slot]);
    // A turn may end and the next one of the same instance begin in one step.
    const bool same = turn && turn_ && turn->slot == turn_->slot && turn->start == turn_->start;
    if (turn_ && !same) end_turn(now, 0);
    turn_ = turn;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
        if (slots[slot] && tracks_[slot].number != 0)
            see_gate(tracks_[slot], now, *slots[slot], turn && turn->slot == slot);
}

void GpuWatch::note(Record record, std::optional<std::size_t> slot) {
    if (slot) record.track = tracks_[*slot].number;
    buffer_.put(std::move(record));
}

void GpuWatch::finish(Nanos now, Nanos cost_of_slicer, Nanos cost_of_others) {
    if (turn_) end_turn(now, kUnfinished);
    for (auto& track : tracks_) {
        end_wait(track, now);
        end_open(track, now);
        write_rest_of_work(track, now);
    }
    const auto dropped = static_cast<std::int64_t>(buffer_.dropped());
    const auto records = static_cast<std::int64_t>(buffer_.records()) + 1;
    buffer_.put_last({Kind::end, 0, began_, now, {cost_of_slicer, records, dropped, cost_of_others}, {}});
}

}  // namespace cgpu::trace
