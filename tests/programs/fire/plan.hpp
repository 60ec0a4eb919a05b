#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/programs/fire/holding.hpp"

namespace programs::fire {

constexpr std::int64_t kMillisecond = 1'000'000;  // ns

/// What one run does.
struct Plan {
    std::string name;  ///< of the processes, as the simulator's trace shows them
    std::string journal;
    std::vector<int> devices{0};
    std::vector<Way> ways{std::begin(kWays), std::end(kWays)};
    std::uint64_t limit_bytes = 0;  ///< on each device; sizes are drawn so that it is always near
    unsigned processes = 100;       ///< killed in all
    unsigned at_once = 6;
    unsigned threads = 3;      ///< of a process, at most
    std::uint64_t steps = 60;  ///< after so many at most a process is killed
    unsigned seed = 1;
    std::int64_t patience_ns = 0;  ///< how long a refused request is repeated
};

}  // namespace programs::fire
