#pragma once

#include <algorithm>
#include <cstddef>

namespace cgpu::link {

/// Divides the descriptors that cgpud may have among the instances, without knowing how many there will be:
/// an instance may take more as long as what is left for all is some times what it has. A greedy one gets a
/// part of the whole, a second greedy one the same part, and something is always left for one that comes.
/// (Buffers of network switches are shared like that: dynamic thresholds, Choudhury and Hahne, 1998.)
class DescriptorBudget {
  public:
    /// How much more must be left than an instance has.
    static constexpr std::size_t kRatio = 4;
    /// An instance may always have so many, as long as any are left.
    static constexpr std::size_t kAlways = 64;

    /// `total`: how many there are.
    explicit DescriptorBudget(std::size_t total) : total_(total) {}

    /// Descriptors of one instance, given back at its end.
    class Share {
      public:
        explicit Share(DescriptorBudget& budget) : budget_(&budget) {}
        ~Share() { budget_->taken_ -= taken_; }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        [[nodiscard]] bool room() const { return taken_ < std::max(kAlways, left() / kRatio) && left() > 0; }
        /// Has so many now.
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
