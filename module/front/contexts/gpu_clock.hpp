#pragma once

#include <algorithm>
#include <cstdint>

#include "module/base/least_lately.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// The offset of CLOCK_MONOTONIC from a GPU's clock: the smallest "seen by the host − ended on the GPU" of
/// the last one to two seconds. The host always sees an end late, and clocks drift slowly. An end that was
/// seen very late after a pause (because the process was stopped) must not be taken for drift.
class GpuClock {
  public:
    /// The offset to add to a time on the GPU's clock. At `now_ns` the host saw work that ended at `end_ns`
    /// on that clock.
    std::int64_t offset_ns(std::int64_t now_ns, std::int64_t end_ns) {
        least_.add(now_ns - end_ns, now_ns);
        auto offset = least_.least();
        if (seen_) offset = std::min(offset, last_offset_ns_ + (now_ns - last_seen_ns_) / kDriftOne);
        seen_ = true;
        last_offset_ns_ = offset;
        last_seen_ns_ = now_ns;
        return offset;
    }

  private:
    static constexpr std::int64_t kWindow = kSecond;
    /// The clocks of a GPU and its host drift apart by at most 200 millionths of the time.
    static constexpr std::int64_t kDriftOne = 5000;

    bool seen_ = false;
    module::LeastLately<kWindow, INT64_MAX> least_;
    std::int64_t last_offset_ns_ = 0;
    std::int64_t last_seen_ns_ = 0;
};

}  // namespace cgpu::front
