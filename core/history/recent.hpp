#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/history/record.hpp"

namespace cgpu::history {

/// What each owner had of the GPUs lately: after each half-life its GPU time counts half as much. Only
/// comparisons of owners with each other mean anything.
class Recent {
  public:
    /// Beyond so many those that had least are forgotten: a container may declare any name.
    static constexpr std::size_t kMostOwners = 4096;

    /// Half-life in microseconds, more than 0.
    explicit Recent(std::uint64_t half_life_us) : half_life_us_(half_life_us) {}

    /// `now_us`: what ends later, by a clock that was ahead, counts as of now.
    void add(const Record& record, std::uint64_t now_us);
    [[nodiscard]] const std::map<model::Owner, double>& by_owner() const { return used_; }

  private:
    void count_from(std::uint64_t us);
    void forget_least();

    std::uint64_t half_life_us_;
    std::uint64_t unit_us_ = 0;  ///< GPU time then counts as it is
    std::map<model::Owner, double> used_;
};

}  // namespace cgpu::history
