#pragma once

#include <algorithm>
#include <cstdlib>

namespace cgpu::schedule::sim {

/// CGPU_TEST_SCALE: the factor by which virtual runs are longer than usual; 1 if it isn't set.
inline int test_scale() {
    const char* text = std::getenv("CGPU_TEST_SCALE");
    return text == nullptr ? 1 : std::clamp(std::atoi(text), 1, 1000);
}

/// Whether a part of the runs suffices, because a sanitizer takes several times as long for each: where
/// RapidCheck is told the same.
inline bool few_runs() { return std::getenv("RC_PARAMS") != nullptr; }

}  // namespace cgpu::schedule::sim
