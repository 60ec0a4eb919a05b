#pragma once

#include "core/model/policy.hpp"

namespace cgpu::schedule {

/// What tells the policies apart; one row of the table in rules.cpp each (S4).
struct Rules {
    bool enforced;         ///< gates close at all
    bool work_conserving;  ///< only those that want the GPU take turns; else whoever is present does
    bool weighted;         ///< weights count
    bool spare_burns;      ///< slices nobody has been given take turns too
    bool fills;            ///< another may run while the holder pauses, if its kernels don't meet others'
};

Rules rules_of(model::Policy policy);

}  // namespace cgpu::schedule
