#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/tagged.hpp"

namespace simgpu {

class Capture;
class Context;
class Queue;

struct Stream : Tagged<0x6d6165727473ULL> {
    Stream(Context& owner, Queue& on, unsigned int creation_flags, int priority_asked, std::uint64_t number)
        : context(owner), queue(on), flags(creation_flags), priority(priority_asked), id(number) {}
    bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
    bool is_captured() const { return capture.load(std::memory_order_acquire) != nullptr; }

    Context& context;
    Queue& queue;
    unsigned int flags;
    int priority;
    std::uint64_t id;
    bool is_legacy = false;  ///< The default stream of its context.
    std::atomic<Capture*> capture{nullptr};
};

/// Clamps to the range of cuCtxGetStreamPriorityRange.
inline int clamp_priority(int asked) { return std::clamp(asked, -5, 0); }

}  // namespace simgpu
