#pragma once

namespace cgpu::app {

/// What every change takes along.
struct Options {
    bool dry_run = false;  ///< check everything, change nothing
    bool force = false;    ///< set_memory: below what is in use, too
    /// set_weight, set_high_priority, set_memory: also for the next starts of the instance's name.
    bool persist = false;
};

}  // namespace cgpu::app
