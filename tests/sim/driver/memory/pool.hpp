#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/sim/driver/base/access.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/mapping/shared_memory.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

class Observer;
class Process;
class Queue;
struct Stream;

/// A stream-ordered memory pool of one GPU. Memory that is freed in a stream's order can be taken again at
/// once in that stream, and in another one after a wait. Spare memory beyond the threshold is released at a
/// synchronisation.
class Pool : public Tagged<0x6c6f6f70ULL> {
  public:
    struct Properties {
        std::uint64_t max_size = 0;       ///< Bytes that it reserves at most; 0: as many as the card has.
        std::uint64_t shared_serial = 0;  ///< Not 0: other processes can open its memory, under this number.
        bool imported = false;            ///< From another process: nothing can be allocated from it.
    };
    Pool(const Process& process, Observer& observer, Holdings& holdings, std::uint32_t ordinal,
         const Properties& properties);

    std::uint32_t ordinal() const { return ordinal_; }
    const Properties& properties() const { return properties_; }
    bool usable() const { return !retired_; }
    /// The program has destroyed the pool: it releases all spare memory, now and whenever memory is freed to
    /// it.
    void retire();

    Access access() const;
    void set_access(std::uint32_t ordinal, CUmemAccess_flags flags);

    bool take(Stream& stream, std::uint64_t size, std::uint64_t& address);
    void give_back(std::uint64_t address);
    void give_back_in_order(Stream& stream, std::uint64_t address);

    struct Place {
        SegmentName name;
        std::uint64_t offset;
    };
    /// Returns where memory of a shared pool is. @return nothing if it is not of this pool, or the pool is
    /// not shared.
    std::optional<Place> locate(std::uint64_t address) const;

    void trim_to_threshold() { trim(threshold()); }
    /// Releases empty regions until at most `keep` bytes are reserved.
    void trim(std::uint64_t keep);

    std::uint64_t threshold() const;
    void set_threshold(std::uint64_t bytes);

    struct Usage {
        std::uint64_t reserved;
        std::uint64_t reserved_high;
        std::uint64_t used;
        std::uint64_t used_high;
    };
    Usage usage() const;
    void reset_reserved_high();
    void reset_used_high();

  private:
    /// Freed in a stream whose operation `sequence` has not been seen to complete.
    struct Pending {
        std::uint64_t number;
        std::uint64_t address;
        Queue* queue;
        std::optional<std::uint64_t> sequence;  ///< Known once the operation is in the queue.
    };
    struct Wait {
        Queue* queue;
        std::uint64_t sequence;
    };

    bool take_now(std::uint64_t size, std::uint64_t& address);
    bool take_from_pending(const Queue& queue, std::uint64_t size, std::uint64_t& address,
                           std::vector<Wait>& waits);
    bool grow(std::uint64_t size);
    void finish(std::uint64_t number);
    void trim_locked(std::uint64_t keep);

    const Process& process_;
    Observer& observer_;
    Holdings& holdings_;
    std::uint32_t ordinal_;
    Properties properties_;
    std::atomic<bool> retired_{false};
    mutable std::mutex mutex_;
    Access access_;
    BlockHeap heap_;
    std::map<std::uint64_t, SharedMemoryPointer> segments_;  ///< Of a shared pool's regions, by their base.
    std::list<Pending> pending_;
    std::uint64_t next_number_ = 0;
    std::uint64_t threshold_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t used_high_ = 0;
    std::uint64_t reserved_high_ = 0;
};

}  // namespace simgpu
