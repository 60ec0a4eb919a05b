#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "module/engine/compute/batches.hpp"

namespace cgpu::module {

/// Streams whose last batch was filled: it took as much as a batch takes. If the next one comes a moment
/// later, its launches needn't show again how many of them come.
class FilledStreams {
  public:
    void note(const Batch& batch) {
        auto* place = std::ranges::find_if(places_, [&](const Place& each) {
            return each.context == batch.context && each.stream == batch.stream;
        });
        if (place == places_.end()) place = &places_[next_++ % places_.size()];
        *place = {
            batch.context, batch.stream, batch.last_ns, batch.pace_ns, batch.estimate_ns / batch.launches,
            batch.launches};
    }

    /// For a batch that was just opened.
    void go_on_with(Batch& batch) const {
        for (const Place& each : places_) {
            if (each.launches == 0 || each.context != batch.context || each.stream != batch.stream ||
                batch.first_ns - each.last_ns > kMoment)
                continue;
            batch.launches_before = each.launches;
            batch.mean_before_ns = each.mean_ns;
            batch.pace_ns = each.pace_ns;
        }
    }

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(next_);
        for (Place& each : places_) {
            visit(each.context);
            visit(each.stream);
            visit(each.last_ns);
            visit(each.pace_ns);
            visit(each.mean_ns);
            visit(each.launches);
        }
    }

  private:
    static constexpr std::int64_t kMoment = 250'000;  // ns

    struct Place {
        std::uint64_t context = 0;
        std::uint64_t stream = 0;
        std::int64_t last_ns = 0;
        std::int64_t pace_ns = 0;
        std::int64_t mean_ns = 0;
        std::uint32_t launches = 0;  ///< 0: a free place
    };
    std::array<Place, 4> places_{};
    std::size_t next_ = 0;
};

}  // namespace cgpu::module
