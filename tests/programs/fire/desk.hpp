#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace programs::fire {

constexpr unsigned kMaxThreads = 8;

/// What a worker shows the master while it lives, in memory that both map. It outlives the worker.
struct Desk {
    struct Thread {
        std::atomic<int> device;
        std::atomic<std::uint64_t> asked;  ///< bytes of the request under way; 0: none
        std::atomic<std::int64_t> since;   ///< when it began
    };
    std::atomic<std::uint64_t> steps;  ///< by all threads
    std::array<Thread, kMaxThreads> threads;

    void clear() {
        steps = 0;
        for (Thread& thread : threads) {
            thread.device = 0;
            thread.asked = 0;
            thread.since = 0;
        }
    }
    std::uint64_t asked(int device) const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads) sum += thread.device == device ? thread.asked.load() : 0;
        return sum;
    }
    /// Returns when the earliest of these requests began; `otherwise` where there is none.
    std::int64_t asked_since(int device, std::int64_t otherwise) const {
        std::int64_t earliest = otherwise;
        for (const Thread& thread : threads) {
            if (thread.device == device && thread.asked != 0)
                earliest = std::min(earliest, thread.since.load());
        }
        return earliest;
    }
};

}  // namespace programs::fire
