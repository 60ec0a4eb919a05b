#pragma once

#include <cstddef>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::app {

/// How often one instance's bell may wake the slicer. A tenant writes its bell as it likes, and each ring
/// that is listened to costs a step. Who has rung too often isn't listened to for a while; it is looked at by
/// time meanwhile, so what it has to tell is late by a few milliseconds at most. No clock: times are the
/// caller's, in nanoseconds, and never go back.
class RingBudget {
  public:
    /// A ring so often for each GPU of the instance is always listened to. An honest instance rings about
    /// twice for each turn on each of its GPUs; with slices of 1 ms and two instances that is 1000 times a
    /// second.
    static constexpr schedule::Nanos kEvery = 500 * schedule::kMicro;
    /// So many at once for each GPU are, too: the processes of one instance ring one after the other.
    static constexpr int kBurst = 32;
    /// Who isn't listened to is looked at so often: all of them at the same moments, or each would cost steps
    /// of its own …
    static constexpr schedule::Nanos kLookEvery = schedule::kMilli;
    /// … and so often, with rings that cost kDearer times as much, who was found too loud kPatience times
    /// without having been quiet for kForget in between. Nobody's turn lasts longer for it: those end by the
    /// clock, and while a turn drains the slicer looks by itself.
    static constexpr schedule::Nanos kLookSeldomEvery = 4 * schedule::kMilli;
    static constexpr int kPatience = 16;
    static constexpr int kDearer = 4;
    static constexpr schedule::Nanos kForget = schedule::kSecond;
    /// A wake without a ring counts as so many: there is no honest reason for it, but for a step that fell
    /// between the two halves of ringing.
    static constexpr int kWakeOnly = 4;

    /// An instance on `gpus` GPUs (0 counts as 1) has rung `times` as of `now`. Who rings on although it
    /// isn't listened to earns nothing meanwhile.
    void rung(schedule::Nanos now, std::size_t gpus = 1, int times = 1);
    /// Whether to listen to it from `now` on. Who was too loud is listened to again when half of its burst is
    /// there again.
    [[nodiscard]] bool listens(schedule::Nanos now);
    /// When one that isn't listened to is to be looked at; later than `now`.
    [[nodiscard]] schedule::Nanos look_at(schedule::Nanos now) const {
        const auto every = found_loud_ < kPatience ? kLookEvery : kLookSeldomEvery;
        return (now / every + 1) * every;
    }

  private:
    schedule::Nanos paid_at_ = 0;  ///< when what it has rung so far is paid for
    bool too_loud_ = false;
    int found_loud_ = 0;  ///< how often, up to kPatience
};

}  // namespace cgpu::app
