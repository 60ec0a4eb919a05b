#pragma once

#include <algorithm>
#include <cstdlib>

namespace cgpu::schedule::sim {

/// CGPU_TEST_SCALE: how many times longer than usual the virtual runs are; 1 where it isn't set.
inline int test_scale() {
    const char* text = std::getenv("CGPU_TEST_SCALE");
    return text == nullptr ? 1 : std::clamp(std::atoi(text), 1, 1000);
}

}  // namespace cgpu::schedule::sim
