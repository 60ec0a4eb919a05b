#pragma once

#include <gtest/gtest.h>

#include "core/schedule/slicer.hpp"

namespace cgpu::schedule {

/// Single steps of one GPU with two instances and hand-made readings.
class Steps : public testing::Test {
  protected:
    Steps() {
        for (const std::size_t i : {0U, 1U}) slicer_.join(i, 1, false);
    }
    Decision at(Nanos now) { return last_ = slicer_.step(now_ = now, readings_, gangs_); }
    Decision after(Nanos dt) { return at(now_ + dt); }
    void launch(std::size_t slot, Nanos work) {
        readings_[slot].wants = false;
        readings_[slot].in_flight_estimate = readings_[slot].remaining = work;
    }
    void drain(std::size_t slot) {
        readings_[slot].used += readings_[slot].in_flight_estimate;
        readings_[slot].in_flight_estimate = readings_[slot].remaining = 0;
    }
    [[nodiscard]] GateOrder::State gate(std::size_t slot) const { return last_.gates[slot].state; }

    Settings settings_;
    Slicer slicer_{settings_};
    Readings readings_;
    GangStates gangs_{};  // what other GPUs say
    Decision last_;
    Nanos now_ = 0;
};

}  // namespace cgpu::schedule
