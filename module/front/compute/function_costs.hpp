#pragma once

#include <array>
#include <cstdint>
#include <new>

#include "module/engine/abi/api.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// The cost of a launch of a function against granted time, as the engine last returned it.
struct FunctionCost {
    std::uint64_t mark = 0;     ///< of function and context: CodeTable::mark; 0: none
    module::BatchId batch = 0;  ///< the batch for which it was last asked about
    std::uint32_t cost_ns = 0;
    std::uint32_t left = 0;     ///< launches until the engine must be asked again
    std::uint32_t granted = 0;  ///< value of `left` when the engine was last told
};

/// The functions that one thread has launched recently. Each has two possible places, and a new function
/// replaces the older one of the two.
class alignas(64) FunctionCosts {
  public:
    /// The functions of this thread; null: it has none (yet).
    static FunctionCosts* of_thread() {
        const detail::Slot* slot = detail::this_thread.slot;
        return slot != nullptr ? slot->costs : nullptr;
    }
    /// Null: the thread has no slot, or there is no memory.
    static FunctionCosts* make_for_thread() {
        detail::Slot* slot = detail::this_thread.slot;
        if (slot == nullptr) return nullptr;
        if (slot->costs == nullptr) slot->costs = new (std::nothrow) FunctionCosts;
        return slot->costs;
    }

    /// Null: unknown.
    [[gnu::always_inline]] FunctionCost* find(std::uint64_t mark) {
        Pair& pair = pairs_[mark >> 32 & (kPairs - 1)];
        // Without a branch, because it can't be predicted which of the two it is when functions come in any
        // order.
        FunctionCost* cost = pair.data() + (pair[0].mark == mark ? 0 : 1);
        return cost->mark == mark ? cost : nullptr;
    }
    FunctionCost& make(std::uint64_t mark) {
        if (FunctionCost* known = find(mark)) return *known;
        Pair& pair = pairs_[mark >> 32 & (kPairs - 1)];
        pair[1] = pair[0];
        pair[0] = FunctionCost{mark};
        return pair[0];
    }

    /// Drops all entries if anything has changed since the last call's `changes`: see launch_changes.
    void forget_older(std::uint32_t changes) {
        if (changes == changes_) return;
        pairs_.fill({});
        changes_ = changes;
    }

  private:
    static constexpr std::size_t kPairs = 256;
    using Pair = std::array<FunctionCost, 2>;

    std::array<Pair, kPairs> pairs_{};
    std::uint32_t changes_ = 0;
};

}  // namespace cgpu::front
