#pragma once

#include "core/model/node.hpp"
#include "core/upgrade/job.hpp"

namespace cgpu::store {

/// All that outlives the daemon and the boot.
struct State {
    model::Node node;
    upgrade::Record record;

    friend bool operator==(const State&, const State&) = default;
};

}  // namespace cgpu::store
