#pragma once

#include <cstdint>

namespace cgpu::front {

/// How many threads a GPU of the instance can run at once: the driver takes stacks and local memory for all
/// of them, however few a launch has. 1 if the driver doesn't say.
std::uint64_t resident_threads(int gpu);

/// `value` times `each`, or more than any card has.
constexpr std::uint64_t saturated_product(std::uint64_t value, std::uint64_t each) {
    return each != 0 && value > UINT64_MAX / each ? UINT64_MAX : value * each;
}

}  // namespace cgpu::front
