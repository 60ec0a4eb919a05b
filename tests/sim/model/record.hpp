#pragma once

#include <atomic>
#include <cstdint>

#include "tests/sim/model/limits.hpp"
#include "tests/sim/model/memory_word.hpp"

namespace simgpu {

enum class RecordKind : std::uint8_t {
    kernel,      ///< Takes `duration` of GPU time.
    rendezvous,  ///< Spins until `gpus` GPUs have begun the k-th rendezvous of this process, or of group
                 ///< `value`.
    mark,        ///< An event: takes no time, but only happens while its context has the GPU.
    transfer,    ///< A small copy, memset or free: takes no time and needs no turn on the GPU.
    copy,        ///< Takes `duration` of a copy engine, whoever has the GPU meanwhile.
    spin,        ///< A kernel that runs until a word of memory has the value it waits for.
    wait_word,   ///< Holds its queue until a word of memory has the value; doesn't run on the GPU.
    write_word,  ///< Writes a word of memory; takes no time and needs no turn.
    wait,        ///< Held until another queue of the same process has passed `wait_sequence`.
    host,        ///< Held until the process says that its host function has returned (`released`).
};

/// One operation in a queue. The process writes the upper part before it publishes the ring's tail; the
/// process that advances the timeline writes `started`, `completed` and `order`. They are valid once the
/// queue's head is past the operation.
struct alignas(64) Record {
    RecordKind kind;
    union {
        std::uint8_t wait_gpu;
        std::int8_t priority;  ///< kernel: less is more urgent, as in CUDA
        Compare compare;       ///< spin, wait_word
    };
    std::uint8_t wait_client;
    std::uint8_t wait_queue;
    union {
        std::uint32_t gpus;    ///< rendezvous
        std::uint32_t engine;  ///< copy
        std::uint32_t word;    ///< 1 + index of the memory word; 0: none. A kernel writes it at its end.
    };
    union {
        Nanoseconds duration;  ///< kernel, copy
        std::uint64_t
            wait_serial;  ///< wait: of the client, so that a successor in its place is not waited for
    };
    Nanoseconds arrival;
    union {
        std::uint64_t wait_sequence;
        std::uint64_t value;  ///< what is waited for in a word, or written to it; rendezvous: group, 0: none
    };
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
