#pragma once

#include <algorithm>
#include <cstdint>

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
        if (now_ns - window_start_ns_ > kWindow) {
            const bool long_ago = now_ns - window_start_ns_ > 2 * kWindow;
            least_ns_[1] = long_ago ? INT64_MAX : least_ns_[0];
            least_ns_[0] = INT64_MAX;
            window_start_ns_ = now_ns;
        }
        least_ns_[0] = std::min(least_ns_[0], now_ns - end_ns);
        auto offset = std::min(least_ns_[0], least_ns_[1]);
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
    std::int64_t least_ns_[2] = {INT64_MAX, INT64_MAX};  ///< of this window and of the one before
    std::int64_t window_start_ns_ = 0;
    std::int64_t last_offset_ns_ = 0;
    std::int64_t last_seen_ns_ = 0;
};

}  // namespace cgpu::front
