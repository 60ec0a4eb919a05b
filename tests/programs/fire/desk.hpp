#pragma once

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
    };
    std::atomic<std::uint64_t> steps;  ///< by all threads
    std::array<Thread, kMaxThreads> threads;

    void clear() {
        steps = 0;
        for (Thread& thread : threads) thread.device = 0, thread.asked = 0;
    }
    std::uint64_t asked(int device) const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads) sum += thread.device == device ? thread.asked.load() : 0;
        return sum;
    }
};

}  // namespace programs::fire
