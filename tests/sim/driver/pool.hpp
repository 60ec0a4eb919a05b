#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/sim/driver/tagged.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

class Queue;
class Runtime;
struct Stream;

/// A stream-ordered memory pool of one GPU. Memory that is given back in a stream's order can be taken again
/// at once in that stream, and in another one behind a wait; what is spare beyond the threshold leaves at a
/// synchronisation.
class Pool : public Tagged<0x6c6f6f70ULL> {
  public:
    Pool(Runtime& runtime, std::uint32_t ordinal) : runtime_(runtime), ordinal_(ordinal) {}

    std::uint32_t ordinal() const { return ordinal_; }

    bool take(Stream& stream, std::uint64_t size, std::uint64_t& address);
    void give_back(std::uint64_t address);
    void give_back_in_order(Stream& stream, std::uint64_t address);

    void trim_to_threshold() { trim(threshold()); }
    /// Gives up empty regions until at most `keep` bytes are reserved.
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
    /// Given back in a stream whose operation `sequence` has not been seen to complete.
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

    Runtime& runtime_;
    std::uint32_t ordinal_;
    mutable std::mutex mutex_;
    BlockHeap heap_;
    std::list<Pending> pending_;
    std::uint64_t next_number_ = 0;
    std::uint64_t threshold_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t used_high_ = 0;
    std::uint64_t reserved_high_ = 0;
};

}  // namespace simgpu
