#include "core/schedule/parts/drain_trust.hpp"

#include <algorithm>

namespace cgpu::schedule {

void DrainTrust::drained(Nanos at) {
    if (!predicted_) return;
    // The error is capped, so that one very long kernel is outweighed by a dozen good predictions.
    const Nanos off = std::min(at > *predicted_ ? at - *predicted_ : *predicted_ - at, 3 * kMilli);
    error_ = (4 * error_ + off) / 5;
    predicted_.reset();
}

}  // namespace cgpu::schedule
