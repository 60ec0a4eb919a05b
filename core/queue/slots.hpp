#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/admission/admit.hpp"
#include "core/queue/forecast.hpp"

namespace cgpu::queue {

/// Where and when a request can be.
struct Slot {
    Nanos from = 0;
    Nanos until = kNever;
    admission::Grant grant;

    [[nodiscard]] Placed placed() const { return {grant.mode, grant.quotas, from, until}; }
};

/// What those who wait leave of a GPU to those behind.
struct Closed {
    Nanos until = kNever;  ///< they must have ended by then
    Ticket by = 0;         ///< who leaves no more
    /// Before that, nothing may begin there whose end isn't known: others rely on knowing all ends until
    /// then.
    Nanos calm_until = 0;
};

/// By the place of a GPU in Node::gpus().
using Closings = std::vector<Closed>;

/// Who is to be placed. What is pointed at outlives it.
struct Ask {
    const Waiting* waiting = nullptr;
    const Needs* needs = nullptr;
    const limits::Allowance* allowance = nullptr;  ///< null: its owner may have as much as there is
};

/// The end of one that begins then; kNever if it has no time limit.
[[nodiscard]] Nanos end_of(const Waiting& waiting, Nanos from);

/// Whether those before it have left it enough of the GPUs that it could use, if it ends then.
[[nodiscard]] bool is_open(const Needs& needs, const Closings& closings, Nanos until);

/// Has admission plan on the nodes of a forecast, at most so many times.
class Planner {
  public:
    Planner(admission::Defaults defaults, std::size_t most) : defaults_(std::move(defaults)), most_(most) {}

    /// From this moment on, until its end, beside everything that the forecast has, and on none of the GPUs
    /// in `without`. Empty: it doesn't fit, or admission has planned often enough.
    [[nodiscard]] std::optional<Slot> at(const Forecast& forecast, const Ask& ask, const Closings& closings,
                                         std::size_t moment, const GpuSet& without = {});
    /// How often admission has planned. Others may count what costs as much.
    [[nodiscard]] std::size_t plans() const { return plans_; }
    void count_one() { ++plans_; }
    [[nodiscard]] bool exhausted() const { return plans_ >= most_; }

  private:
    [[nodiscard]] std::optional<admission::Grant> plan(const model::Node& node, const Ask& ask);

    admission::Defaults defaults_;
    std::size_t most_;
    std::size_t plans_ = 0;
};

}  // namespace cgpu::queue
