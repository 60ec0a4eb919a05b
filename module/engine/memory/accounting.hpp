#pragma once

#include <cstdint>

#include "core/wire/limits.hpp"
#include "core/wire/pages.hpp"
#include "module/engine/abi/api.hpp"
#include "module/engine/base/lock.hpp"
#include "module/engine/base/map.hpp"

namespace cgpu::module {

/// One thing that the driver has given.
struct Held {
    std::uint32_t gpu;
    std::uint64_t bytes;    ///< as asked of the driver
    std::uint64_t context;  ///< whose it is; 0: unknown
};

/// What this process may take of each GPU's memory, and what it has taken. The driver is called between
/// `reserve` and `commit` or `cancel`, so two threads can't take the same bytes, and a failed call leaves
/// nothing. A reserve sets aside everything that its commit will need, so a commit of reserved bytes can't
/// fail.
///
/// An allocation: nothing → reserved (reserve) → charged (commit), or nothing again (cancel); charged →
/// nothing (release, after the driver has freed it) or → gone with its lease (surrender: the memory may live
/// on outside the process). A pool's charge changes its size (resize). What was made in a destroyed context
/// is released (release_context), and all ends with the process. `freeing` marks the time in which the driver
/// may have freed memory whose charge isn't released yet.
///
/// Invariants: charged = what the holdings touch; nothing is ever below zero; charged + reserved ≤ leased,
/// unless the driver gave more than was asked for, or isolation was off.
class Accounting {
  public:
    explicit Accounting(const EngineHost& host);

    /// Where charges are reported and whether limits hold; null: not connected.
    void bind(const wire::Orders* orders, wire::Reports* reports);

    std::uint64_t reserve(std::uint32_t gpu, std::uint64_t bytes);
    void commit(std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
                std::uint64_t reserved);
    void cancel(std::uint32_t gpu, std::uint64_t reserved);

    std::uint64_t resize(std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
                         std::uint64_t reserved);

    bool find(Holding kind, std::uint64_t key, Held& out);
    void freeing(bool begins);
    bool release(Holding kind, std::uint64_t key);
    std::uint64_t surrender(Holding kind, std::uint64_t key);
    void note_context(Holding kind, std::uint64_t key, std::uint64_t context);
    void release_context(std::uint64_t context);

    void lease(std::uint32_t gpu, std::uint64_t bytes);
    std::uint64_t spare(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep);
    std::uint64_t charged(std::uint32_t gpu);
    std::uint64_t leased(std::uint32_t gpu);

    // For a handover.
    /// What may be taken, and what is reserved for driver calls under way.
    struct Allotment {
        std::uint64_t leased;
        std::uint64_t reserved;
    };
    Allotment allotment(std::uint32_t gpu);
    void adopt(std::uint32_t gpu, const Allotment& allotment);
    /// Driver calls under way.
    struct Changes {
        std::uint64_t pending;  ///< allocations: reserved, and neither committed nor cancelled
        std::uint32_t freeing;
        std::uint32_t begun;  ///< so far, of both; wraps
    };
    Changes changes();
    /// False: no memory for their results.
    bool adopt(const Changes& changes);
    bool make_room_for(Holding kind, std::uint64_t count);
    bool adopt(Holding kind, std::uint64_t key, const Held& held);
    template <class Visit>  // void(Holding, std::uint64_t key, const Held&): of two with one key, the earlier
                            // first
    void each(Visit visit) {
        const Guard guard(lock_);
        for (const Holding kind : kHoldings) {
            Shelf* shelf = shelf_of(kind);
            const auto tell = [&](std::uint64_t key, const Held& held) { visit(kind, key, held); };
            shelf->earlier.each(tell);
            shelf->held.each(tell);
        }
    }
    /// The number of holdings of each kind.
    template <class Visit>  // void(Holding, std::uint64_t)
    void each_count(Visit visit) {
        const Guard guard(lock_);
        for (const Holding kind : kHoldings) {
            const Shelf* shelf = shelf_of(kind);
            visit(kind, shelf->earlier.size() + shelf->held.size());
        }
    }

  private:
    static constexpr Holding kHoldings[] = {Holding::address, Holding::array, Holding::physical,
                                            Holding::pool};

    struct Gpu {
        std::uint64_t leased = 0;
        std::uint64_t reserved = 0;
        std::uint64_t charged = 0;
        std::uint64_t small_arrays = 0;  ///< bytes of the arrays below a granule
        std::uint64_t pooled = 0;        ///< of it
    };

    /// The holdings of one kind. Between a free and its report to the engine, the driver may give a key to
    /// another thread: then both are held for a moment, and the free refers to the earlier one.
    struct Shelf {
        Map<Held> held;
        Map<Held> earlier;  ///< of keys that are in `held`, too
        explicit Shelf(const EngineHost& host) : held(host), earlier(host) {}
        bool make_room(std::uint64_t count) { return held.make_room(count) && earlier.make_room(count); }
    };

    Shelf* shelf_of(Holding kind);  ///< null for a kind that isn't ours
    bool make_room(std::uint64_t commits);
    bool put(Holding kind, Shelf& shelf, std::uint64_t key, const Held& fresh);
    std::uint64_t charge_for(Holding kind, std::uint64_t key, const Held& held);
    bool take(Holding kind, std::uint64_t key, Held& out);
    std::uint64_t end_charge(Holding kind, std::uint64_t key, const Held& held);
    std::uint64_t touch_edge(std::uint64_t edge);
    std::uint64_t leave_edge(std::uint64_t edge);
    void take_off_reserved(std::uint32_t gpu, std::uint64_t bytes);
    void report(std::uint32_t gpu);
    void report_changes();

    Lock lock_;
    const wire::Orders* orders_ = nullptr;
    wire::Reports* reports_ = nullptr;
    Gpu gpus_[wire::kMaxGpus];
    Changes changes_{};
    Shelf addresses_;
    Shelf arrays_;
    Shelf physical_;
    Shelf pools_;
    /// How many holdings touch a granule that none of them fills.
    Map<std::uint64_t> edges_;
};

}  // namespace cgpu::module
