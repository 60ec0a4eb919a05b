#pragma once

#include <atomic>
#include <cstdint>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

enum class RecordKind : std::uint8_t {
    kernel,      ///< Takes `duration` of GPU time.
    rendezvous,  ///< Spins until `gpus` GPUs have begun this process's k-th rendezvous.
    mark,        ///< An event: takes no time, but only happens while its context has the GPU.
    transfer,    ///< A copy, memset or free: takes no time and needs no turn on the GPU.
    wait,        ///< Held until another queue of the same process has passed `wait_sequence`.
    host,        ///< Held until the process says that its host function has returned (`released`).
};

/// One operation in a queue. The process writes the upper part before it publishes the ring's tail; whoever
/// advances the timeline writes `started`, `completed` and `order`. They hold once the queue's head is past
/// it.
struct alignas(64) Record {
    RecordKind kind;
    std::uint8_t wait_gpu;
    std::uint8_t wait_client;
    std::uint8_t wait_queue;
    std::uint32_t gpus;
    union {
        Nanoseconds duration;  ///< kernel
        std::uint64_t
            wait_serial;  ///< wait: of the client, so that a successor in its place is not waited for
    };
    Nanoseconds arrival;
    std::uint64_t wait_sequence;
    std::atomic<Nanoseconds> released;  ///< 0: not yet
    Nanoseconds started;
    Nanoseconds completed;
    std::uint64_t order;  ///< Rank among all completions of the timeline: settles ties of `completed`.
};
static_assert(sizeof(Record) == 64);
static_assert(std::atomic<Nanoseconds>::is_always_lock_free);

/// A queue's operations; sequence number s lies at s % kRingSize.
struct alignas(64) Ring {
    std::atomic<std::uint64_t> tail;
    Record records[kRingSize];

    Record& at(std::uint64_t sequence) { return records[sequence % kRingSize]; }
};

/// The rings of all queues of all clients of all GPUs, in one array.
class RingTable {
  public:
    explicit RingTable(Ring* rings) : rings_(rings) {}
    Ring& at(std::uint32_t gpu, std::uint32_t client, std::uint32_t queue) const {
        return rings_[(gpu * kMaxClients + client) * kMaxQueues + queue];
    }
    static constexpr std::uint64_t bytes(std::uint32_t gpus) {
        return sizeof(Ring) * gpus * kMaxClients * kMaxQueues;
    }

  private:
    Ring* rings_;
};

}  // namespace simgpu
