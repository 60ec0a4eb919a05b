#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/model/nanos.hpp"

namespace cgpu::app {

/// Memory, summed over the time for which it was used, from moments at which it changed or was looked at.
class MemoryTime {
  public:
    /// So many bytes are used from now on.
    void note(model::Nanos now, std::uint64_t bytes) {
        if (bytes_ > 0)
            byte_ns_ += static_cast<double>(bytes_) * static_cast<double>(std::max(now, at_) - at_);
        at_ = std::max(now, at_);
        bytes_ = bytes;
    }

    /// Until the last moment; MiB x ms.
    [[nodiscard]] std::uint64_t mib_ms() const {
        return static_cast<std::uint64_t>(std::llround(byte_ns_ / (1 << 20) / 1e6));
    }

  private:
    double byte_ns_ = 0;
    model::Nanos at_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace cgpu::app
