#pragma once

#include <array>
#include <cstdint>
#include <new>

#include "module/engine/abi/api.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// What a launch of a function counts against granted time, as the engine said last.
struct FunctionCost {
    std::uint64_t mark = 0;     ///< of function and context: CodeTable::mark; 0: none
    module::BatchId batch = 0;  ///< that it was last asked about for
    std::uint32_t cost_ns = 0;
    std::uint32_t left = 0;     ///< launches until the engine is to be asked again
    std::uint32_t granted = 0;  ///< of these, when the engine was last told
};

/// The functions that one thread has launched last. Each has two places, and the older of two others makes
/// room for a third.
class alignas(64) FunctionCosts {
  public:
    /// Those of this thread; null: it has none (yet).
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

    /// Null: not known.
    [[gnu::always_inline]] FunctionCost* find(std::uint64_t mark) {
        Pair& pair = pairs_[mark >> 32 & (kPairs - 1)];
        // No branch: which of the two it is can't be foretold where functions come in any order.
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

    /// Forgets all where something has changed since `changes` was told last: see launch_changes.
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
