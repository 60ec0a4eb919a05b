#pragma once

#include <cstdint>

#include "core/wire/pages.hpp"

namespace cgpu::module {

/// How long the launches on one GPU waited that had to wait (see wire::LaunchWaits).
class LaunchWaits {
  public:
    void ended(std::int64_t ns) {
        std::size_t bucket = 0;
        while (bucket < wire::kWaitBuckets - 1 && ns > wire::kWaitBoundsNs[bucket]) ++bucket;
        ++counts_[bucket];
        sum_ns_ += ns;
    }
    void report(wire::LaunchWaits& out) const {
        constexpr auto kRelaxed = std::memory_order_relaxed;
        out.sum_ns.store(sum_ns_, kRelaxed);
        for (std::size_t i = 0; i < wire::kWaitBuckets; ++i) out.counts[i].store(counts_[i], kRelaxed);
    }

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(sum_ns_);
        for (std::uint32_t& count : counts_) visit(count);
    }

  private:
    std::int64_t sum_ns_ = 0;
    std::uint32_t counts_[wire::kWaitBuckets] = {};
};

}  // namespace cgpu::module
