#pragma once

#include "core/model/policy.hpp"
#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What can be tuned without changing the meaning of a policy. All durations are positive, in nanoseconds.
struct Tuning {
    /// One slice. A turn is weight × slice (weight 1 where weights don't count); a period is max_inst slices.
    /// Shorter turns respond sooner; each turn costs a switch (about 50 µs) and two or three steps.
    Nanos slice = 5 * kMilli;
    /// The next gate opens this long before the predicted drain: about the time in which a waiting thread
    /// sees its gate open.
    Nanos lead = 100 * kMicro;
    /// Predictions whose mean error is below this are trusted. Only then does the next gate open before the
    /// drain.
    Nanos trusted_error = 250 * kMicro;
    /// In a work-conserving policy a holder without work keeps its turn for this long.
    Nanos idle_grace = 300 * kMicro;
    /// The minimum time for which a holder keeps the GPU before an instance that wakes up and is behind may
    /// cut the turn short. A high-priority turn begins with at least this much in the bucket.
    Nanos preempt_after = 2 * kMilli;
    /// A holder whose program waits for the GPU, and that is usually idle for longer than this afterwards,
    /// ends its turn at once.
    Nanos worthwhile_gap = 200 * kMicro;
    /// The drain deadline is twice the prediction plus this …
    Nanos drain_slack = 5 * kMilli;
    /// … but at least this where the duration of the kernel in flight is unknown …
    Nanos unmeasured_drain = 50 * kMilli;
    /// … and at most this: the kernel may wait for a launch that is held at a gate. It is multiplied by …
    Nanos longest_drain = 200 * kMilli;
    /// … the number of instances that use the GPU together, of which at most this many count.
    int most_sharers = 4;
    /// Length of the driver's own time slice between contexts.
    Nanos driver_slice = 2 * kMilli;
    /// GPU time for which a policy-4 instance may run while the holder pauses.
    Nanos fill = 500 * kMicro;
    /// The high-priority bucket holds prio_ratio % of this: the longest burst that is served at full speed.
    Nanos priority_burst = 100 * kMilli;
    /// A work-conserving turn costs at least this part of the time in which it was busy, whatever was
    /// measured.
    int least_cost_percent = 80;
    /// A turn costs at least this part of its time even if its holder reports that it was woken late: a false
    /// report must not let an instance go first for ever.
    int least_late_cost_percent = 25;
    /// An instance stays ganged for this long after its work was seen to wait for a launch that another GPU
    /// held.
    Nanos gang_memory = 10 * kSecond;
    /// Tolerance for gangs, as GPU time. If the leading GPU runs the gang's turn, this GPU runs the gang next
    /// even if the gang is ahead by up to gang_slack. If the gang waits for its turn on the leading GPU, this
    /// GPU runs it only when it is behind by at least gang_slack. With 5 ms, the turns of GPUs with different
    /// other instances don't coincide.
    Nanos gang_slack = 20 * kMilli;
    /// The minimum length of a ganged instance's turn: its GPUs never begin the turn at exactly the same
    /// time.
    Nanos gang_turn = 20 * kMilli;
    /// Work behind a closed gate without progress for this long may wait for a launch that is held.
    Nanos stuck_grace = kMilli;
    /// If a launch unblocks other work, that work makes progress within this time.
    Nanos freed_within = 5 * kMilli;
    /// A step that comes later than requested by more than this finds closed gates expired: all instances
    /// have computed as the driver scheduled them.
    Nanos silence = kSecond;
    /// No step asks for the next one sooner than this.
    Nanos shortest_wait = 20 * kMicro;
};

/// How one GPU is divided. The bounds are those of core/model (max_inst 1..25, prio_ratio 20..99); the slicer
/// clamps to them.
struct Settings {
    model::Policy policy = model::Policy::preemptive;
    int max_inst = 20;
    int prio_ratio = 50;
    Tuning tuning;
};

}  // namespace cgpu::schedule
