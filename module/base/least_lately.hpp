#pragma once

#include <algorithm>
#include <cstdint>

namespace cgpu::module {

/// The least of the values of the last one to two windows of time: what was seen long ago ceases to count.
/// `kNone`: the least while there is no value, and more than any.
template <std::int64_t kWindowNs, std::int64_t kNone>
class LeastLately {
  public:
    void add(std::int64_t value, std::int64_t now_ns) {
        if (now_ns - window_start_ns_ > kWindowNs) {
            const bool long_ago = now_ns - window_start_ns_ > 2 * kWindowNs;
            least_[1] = long_ago ? kNone : least_[0];
            least_[0] = kNone;
            window_start_ns_ = now_ns;
        }
        least_[0] = std::min(least_[0], value);
    }

    /// By the last add().
    [[nodiscard]] std::int64_t least() const { return std::min(least_[0], least_[1]); }

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        for (std::int64_t& least : least_) visit(least);
        visit(window_start_ns_);
    }

  private:
    std::int64_t least_[2] = {kNone, kNone};  ///< of this window and of the one before
    std::int64_t window_start_ns_ = 0;
};

}  // namespace cgpu::module
