#pragma once

#include "core/model/policy.hpp"

namespace cgpu::schedule {

/// How the policies differ: each is one row of the table in rules.cpp, by cGPU's contract.
struct Rules {
    bool enforced;         ///< gates close at all
    bool work_conserving;  ///< only instances that want the GPU take turns; else all present ones do
    bool weighted;         ///< weights count
    bool spare_burns;      ///< slices that no instance was given take turns, too, and stay idle
    bool fills;            ///< another may run while the holder pauses, unless it is ganged
};

Rules rules_of(model::Policy policy);

}  // namespace cgpu::schedule
