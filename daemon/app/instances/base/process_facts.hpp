#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/view/instance.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Users and commands of processes, for people. Everybody may ask for them, and there may be thousands: each
/// is read once a second at most, and no more than kMostReads of them in a second, in turns.
class ProcessFacts {
  public:
    /// Each takes some tens of microseconds, in which cgpud does nothing else.
    static constexpr int kMostReads = 128;

    /// The arguments outlive this object.
    ProcessFacts(const Loop& loop, Processes& processes) : loop_(loop), processes_(processes) {}

    /// Sorted by pid; each process once. One that hasn't had its turn yet has its pid only.
    [[nodiscard]] std::vector<view::Process> of(const std::vector<model::Process>& all);

  private:
    struct Known {
        view::Process process;
        std::uint64_t read = 0;   ///< the round in which it was read; 0: not yet
        std::uint64_t asked = 0;  ///< the last round in which it was asked for
    };

    void begin_round(Nanos now);

    const Loop& loop_;
    Processes& processes_;
    std::uint64_t round_ = 0;  ///< from 1; one lasts a second, or until the next call
    Nanos round_began_ = 0;
    int reads_ = 0;                                                  ///< in this round
    std::map<std::pair<std::int32_t, std::uint64_t>, Known> known_;  ///< by pid and start time
};

}  // namespace cgpu::app
