#include "core/schedule/parts/drain_trust.hpp"

#include <algorithm>

namespace cgpu::schedule {

void DrainTrust::drained(Nanos at) {
    if (!predicted_) return;
    // Capped, so that one very long kernel is forgiven after a dozen good predictions.
    const Nanos off = std::min(at > *predicted_ ? at - *predicted_ : *predicted_ - at, 3 * kMilli);
    error_ = (4 * error_ + off) / 5;
    predicted_.reset();
}

}  // namespace cgpu::schedule
