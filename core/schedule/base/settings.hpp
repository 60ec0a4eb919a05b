#pragma once

#include "core/model/policy.hpp"
#include "core/schedule/base/nanos.hpp"

/// What the slicer goes by. Tuning can be changed without changing the meaning of a policy; it has a struct
/// for each part. All durations are positive, in nanoseconds.
namespace cgpu::schedule {

/// How far ahead an instance gets, and how far it may: Competitors.
struct ShareTuning {
    /// One slice. A turn is weight × slice (weight 1 where weights don't count); a period is max_inst slices.
    /// Shorter turns respond sooner; each turn costs a switch (about 50 µs) and two or three steps.
    Nanos slice = 5 * kMilli;
    /// The high-priority bucket holds prio_ratio % of this: the longest burst that is served at full speed.
    Nanos priority_burst = 100 * kMilli;
    /// Tolerance for gangs, as GPU time. If the leading GPU runs the gang's turn, this GPU runs the gang next
    /// even if the gang is ahead by up to gang_slack. If the gang waits for its turn on the leading GPU, this
    /// GPU runs it only when it is behind by at least gang_slack. With 5 ms, the turns of GPUs with different
    /// other instances don't coincide.
    Nanos gang_slack = 20 * kMilli;
    /// The minimum length of a ganged instance's turn: its GPUs never begin the turn at exactly the same
    /// time.
    Nanos gang_turn = 20 * kMilli;
    /// An instance that didn't compete for the GPU for no longer than this keeps what is owed to it: the end
    /// of its work may be reported before its next launch is.
    Nanos short_pause = 500 * kMicro;
};

/// How long the end of work in flight is waited for: Turns and StuckWork.
struct DrainTuning {
    /// The drain deadline is twice the prediction plus this …
    Nanos slack = 5 * kMilli;
    /// … but at least this where the duration of the kernel in flight is unknown …
    Nanos unmeasured = 50 * kMilli;
    /// … and at most this: the kernel may wait for a launch that is held at a gate.
    Nanos longest = 200 * kMilli;
    /// So long is waited for work of an instance whose reports are doubted, whatever it reports, and as many
    /// times as long as instances run beside each other then.
    Nanos doubted = 20 * kMilli;
    /// Predictions whose mean error is below this are trusted.
    Nanos trusted_error = 250 * kMicro;
};

/// When a turn ends, and when the next one begins: Turns.
struct TurnTuning {
    /// The next gate opens this long before the predicted drain, where the prediction is trusted: about the
    /// time in which a waiting thread sees its gate open.
    Nanos lead = 100 * kMicro;
    /// In a work-conserving policy a holder without work keeps its turn for this long.
    Nanos idle_grace = 300 * kMicro;
    /// The minimum time for which a holder keeps the GPU before an instance that wakes up and is behind may
    /// cut the turn short. A high-priority turn begins with at least this much in the bucket.
    Nanos preempt_after = 2 * kMilli;
    /// A holder whose program waits for the GPU, and that is usually idle for longer than this afterwards,
    /// ends its turn at once.
    Nanos worthwhile_gap = 200 * kMicro;
    /// The longest drain is multiplied by the number of instances that use the GPU together, of which at most
    /// this many count.
    int most_sharers = 4;
};

/// What a turn costs: ComputeAccounting.
struct CostTuning {
    /// A work-conserving turn costs at least this part of the time in which others waited for it, whatever
    /// was measured: two instances with the same weight, one of which reports too little, get 51 to 49.
    int least_percent = 97;
    /// This part of the time in which a turn had work and others waited is Achieved::granted.
    int granted_percent = 80;
    /// A turn costs at least this part of its time even if its holder was woken late.
    int least_late_percent = 25;
    /// Length of the driver's own time slice between contexts.
    Nanos driver_slice = 2 * kMilli;
    /// A work-conserving turn costs at least this, unless another instance cut it short: work that its holder
    /// doesn't report may still run.
    Nanos least_turn = 2 * kMilli;
};

/// When reports are doubted: Doubt.
struct DoubtTuning {
    /// So much time with an open gate passed without a sign of the launches that waited there.
    Nanos most_unseen = 200 * kMilli;
    /// So much time of its turns passed while work was in flight of which hardly anything was measured.
    Nanos most_standing = 2 * kSecond;
    /// So much is in flight, though the window of each process is 2 ms and a kernel. Kernels of three
    /// processes that ran beside those of others were estimated at more than three seconds.
    Nanos most_in_flight = 8 * kSecond;
    /// How long reports are doubted after that.
    Nanos lasts = 10 * kSecond;
};

/// When work that waits for a held launch is seen: StuckWork.
struct StuckTuning {
    /// Work behind a closed gate without progress for this long may wait for a launch that is held.
    Nanos grace = kMilli;
    /// If a launch unblocks other work, that work makes progress within this time.
    Nanos freed_within = 5 * kMilli;
    /// A launch that was let through comes within this time, and the gate is closed again.
    Nanos let_through_for = 10 * kMilli;
};

/// Slicer itself.
struct StepTuning {
    /// An instance stays ganged for this long after its work was seen to wait for a launch that another GPU
    /// held.
    Nanos gang_memory = 10 * kSecond;
    /// GPU time for which a policy-4 instance may run while the holder pauses.
    Nanos fill = 500 * kMicro;
    /// A step that comes later than requested by more than this finds closed gates expired: all instances
    /// have computed as the driver scheduled them.
    Nanos silence = kSecond;
    /// No step asks for the next one sooner than this.
    Nanos shortest_wait = 20 * kMicro;
};

struct Tuning {
    ShareTuning shares;
    DrainTuning drains;
    TurnTuning turns;
    CostTuning costs;
    DoubtTuning doubt;
    StuckTuning stuck;
    StepTuning steps;
};

/// How one GPU is divided. The bounds are those of core/model (max_inst 1..25, prio_ratio 20..99); the slicer
/// clamps to them.
struct Division {
    model::Policy policy = model::Policy::preemptive;
    int max_inst = 20;
    int prio_ratio = 50;
};

/// What a slicer begins with.
struct Settings : Division {
    Tuning tuning;
};

}  // namespace cgpu::schedule
