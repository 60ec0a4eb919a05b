#pragma once

#include "core/model/policy.hpp"
#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What may be tuned without changing what a policy means. All durations in nanoseconds, all positive.
struct Tuning {
    /// One slice. A turn is weight × slice (weight 1 where weights don't count), a period max_inst slices.
    /// Shorter turns answer sooner; each costs a switch (about 50 µs) and two or three steps.
    Nanos slice = 5 * kMilli;
    /// The next gate opens this long before the predicted drain: about what a gate takes to be seen opened.
    Nanos lead = 100 * kMicro;
    /// Predictions that are off by less than this on average are trusted, and only then is there a lead.
    Nanos trusted_error = 250 * kMicro;
    /// In a work-conserving policy a holder without work keeps its turn this long.
    Nanos idle_grace = 300 * kMicro;
    /// A holder may keep the GPU this long before one that wakes up and is behind cuts its turn short; a
    /// high-priority turn begins with at least this much in the bucket.
    Nanos preempt_after = 2 * kMilli;
    /// A holder blocked in a wait and usually away longer than this afterwards hands over before it drains.
    Nanos worthwhile_gap = 200 * kMicro;
    /// A drain is waited for twice its prediction plus this, then the gate turns anyway …
    Nanos drain_slack = 5 * kMilli;
    /// … at least this long when nobody knows how long the kernel in flight takes …
    Nanos unmeasured_drain = 50 * kMilli;
    /// … and never longer than this: a kernel may be waiting for another one's that is held at a gate.
    Nanos longest_drain = 200 * kMilli;
    /// … for each of those who have the GPU together, of whom so many count at most.
    int most_sharers = 4;
    /// What the driver lets a context run for before it looks at the others.
    Nanos driver_slice = 2 * kMilli;
    /// How much a policy-4 instance may run while the holder pauses.
    Nanos fill = 500 * kMicro;
    /// The high-priority bucket holds prio_ratio % of this: the burst that is served at full speed.
    Nanos priority_burst = 100 * kMilli;
    /// A work-conserving turn costs at least this part of the time it was busy, whatever was measured.
    int least_cost_percent = 80;
    /// A turn costs at least this part of its time even if its holder says that it was woken late: a false
    /// claim must not come first for ever.
    int least_late_cost_percent = 25;
    /// An instance is ganged for so long after its work was seen to wait for a launch held on another GPU.
    Nanos gang_memory = 10 * kSecond;
    /// One that is called goes next although it is ahead of others by so much GPU time, one that is held
    /// where it is led only when it is behind them by as much. With 5 ms, turns of GPUs with unlike others
    /// don't meet.
    Nanos gang_slack = 20 * kMilli;
    /// A turn of a ganged instance lasts at least this long: its GPUs never begin it quite together.
    Nanos gang_turn = 20 * kMilli;
    /// Work behind a closed gate that has moved nowhere for so long may be waiting for one that is held.
    Nanos stuck_grace = kMilli;
    /// What a launch that was let through sets free moves so soon.
    Nanos freed_within = 5 * kMilli;
    /// A step that comes so much later than asked finds that closed gates have run out, so everybody has
    /// computed as the driver let them.
    Nanos silence = kSecond;
    /// No step asks to be called again sooner than this.
    Nanos shortest_wait = 20 * kMicro;
};

/// How one GPU is divided. Bounds are the model's (max_inst 1..25, prio_ratio 20..99); the slicer clamps to
/// them.
struct Settings {
    model::Policy policy = model::Policy::preemptive;
    int max_inst = 20;
    int prio_ratio = 50;
    Tuning tuning;
};

}  // namespace cgpu::schedule
