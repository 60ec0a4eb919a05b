#pragma once

#include "core/model/policy.hpp"

namespace cgpu::schedule {

/// What an instance's share depends on.
enum class Shares {
    equal,         ///< nothing: all have the same weight
    by_weight,     ///< its weight
    as_requested,  ///< its percentage or weight, and who else has work: proportions()
};

/// How the policies differ: each is one row of the table in rules.cpp, by cGPU's contract; proportional is
/// ours.
struct Rules {
    bool enforced;         ///< gates close at all
    bool work_conserving;  ///< only instances that want the GPU take turns; else all present ones do
    Shares shares;
    bool spare_burns;  ///< slices that no instance was given take turns, too, and stay idle
    bool fills;        ///< another may run while the holder pauses, unless it is ganged
};

Rules rules_of(model::Policy policy);

}  // namespace cgpu::schedule
