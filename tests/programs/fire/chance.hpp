#pragma once

#include <cstdint>
#include <random>

namespace programs::fire {

/// Random draws that a seed repeats.
class Chance {
  public:
    explicit Chance(unsigned seed) : random_(seed) {}

    unsigned seed() { return static_cast<unsigned>(random_()); }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool one_in(unsigned count) { return below(count) == 0; }
    std::int64_t time_below(std::int64_t ns) {
        return static_cast<std::int64_t>(below(static_cast<std::uint64_t>(ns)));
    }

  private:
    std::mt19937_64 random_;
};

}  // namespace programs::fire
