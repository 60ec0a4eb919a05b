#pragma once

#include "tests/unit/core/schedule/machine/schedule_world.hpp"

/// Tenants and helpers that tests in virtual time share.
namespace cgpu::schedule::sim {

inline Settings under(model::Policy policy, int max_inst = 20) {
    Settings settings;
    settings.policy = policy;
    settings.max_inst = max_inst;
    return settings;
}

/// A tenant that always has kernels of this length to launch.
inline Tenant floods(Nanos kernel, int weight = 1) {
    Tenant tenant;
    tenant.work.kernels = {kernel};
    tenant.weight = weight;
    return tenant;
}

}  // namespace cgpu::schedule::sim
