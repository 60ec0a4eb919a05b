#pragma once

#include <algorithm>
#include <cstddef>

namespace cgpu::link {

/// Divides cgpud's descriptors among the instances, without knowing how many instances there will be: an
/// instance may take more as long as the free descriptors are some multiple of what it has. One greedy
/// instance gets a part of the whole, a second one gets the same part, and some are always left for a new
/// instance. (Buffers of network switches are shared in this way: dynamic thresholds, Choudhury and Hahne,
/// 1998.)
class DescriptorBudget {
  public:
    /// The required multiple of what an instance has.
    static constexpr std::size_t kRatio = 4;
    /// An instance may always have this many, as long as any are left.
    static constexpr std::size_t kAlways = 64;

    /// `total`: the number of descriptors.
    explicit DescriptorBudget(std::size_t total) : total_(total) {}

    /// The descriptors of one instance, returned at its end.
    class Share {
      public:
        explicit Share(DescriptorBudget& budget) : budget_(&budget) {}
        ~Share() { budget_->taken_ -= taken_; }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        [[nodiscard]] bool room() const { return taken_ < std::max(kAlways, left() / kRatio) && left() > 0; }
        /// Sets the current number.
        void has(std::size_t count) {
            budget_->taken_ += count - taken_;
            taken_ = count;
        }

      private:
        [[nodiscard]] std::size_t left() const {
            return budget_->total_ - std::min(budget_->total_, budget_->taken_);
        }
        DescriptorBudget* budget_;
        std::size_t taken_ = 0;
    };

  private:
    std::size_t total_;
    std::size_t taken_ = 0;
};

}  // namespace cgpu::link
