#pragma once

#include <cstdint>

#include "tests/sim/model/busy_meter.hpp"
#include "tests/sim/model/limits.hpp"
#include "tests/sim/model/memory_word.hpp"

namespace simgpu {

/// GPU work is counted in 1/1024 ns, so that streams that share the GPU divide it without a visible
/// remainder.
constexpr int kWorkShift = 10;
constexpr Nanoseconds kLongestKernel = Nanoseconds{1}
                                       << 46;  ///< 19 hours: keeps all products within 63 bits.

struct QueueState {
    std::uint64_t head;      ///< Sequence number of the first operation that has not completed.
    std::int64_t remaining;  ///< Work left in the kernel or copy at the head, once it has begun.
    std::uint32_t begun;
    std::uint32_t ordinal;  ///< Of the rendezvous at the head, once it has begun; counts from 1.
};

/// One context of one process on one GPU.
struct ClientState {
    std::uint32_t alive;
    std::uint32_t process;
    std::uint64_t serial;  ///< Never used twice.
    std::uint32_t queue_count;
    std::uint32_t rendezvous_begun;
    std::uint64_t group;  ///< Of processes that have their rendezvous together; 0: its own.
    BusyMeter served;     ///< GPU time it held while at least one of its kernels ran.
    QueueState queues[kMaxQueues];
};

struct GpuState {
    std::int32_t active;         ///< Client that holds the GPU, or -1.
    std::uint32_t client_count;  ///< Clients from here on have never been used.
    Nanoseconds slice;
    Nanoseconds switch_cost;
    Nanoseconds slice_end;
    Nanoseconds switch_end;  ///< Until then the GPU changes contexts and runs nothing.
    BusyMeter busy;
    ClientState clients[kMaxClients];
};

/// All GPUs at one instant. It is plain data: it is in shared memory and is copied.
struct TimelineState {
    Nanoseconds now;
    std::uint64_t order;   ///< Completions so far.
    std::uint64_t serial;  ///< Clients so far.
    std::uint32_t gpu_count;
    std::uint32_t word_count;  ///< Words from here on have never been used.
    MemoryWord words[kMaxWords];
    GpuState gpus[kMaxGpus];
};

/// Calls piece(offset, bytes) for the parts of the state that are in use; the bytes between them are zero or
/// have no meaning.
template <typename Piece>
void for_used_pieces(const TimelineState& state, Piece piece) {
    const auto* base = reinterpret_cast<const char*>(&state);
    const auto offset = [base](const void* at) {
        return static_cast<std::uint64_t>(static_cast<const char*>(at) - base);
    };
    piece(0, offset(&state.words[state.word_count]));
    for (std::uint32_t g = 0; g < state.gpu_count; ++g) {
        const GpuState& gpu = state.gpus[g];
        piece(offset(&gpu), offset(&gpu.clients) - offset(&gpu));
        for (std::uint32_t c = 0; c < gpu.client_count; ++c) {
            const ClientState& client = gpu.clients[c];
            piece(offset(&client), offset(&client.queues[client.queue_count]) - offset(&client));
        }
    }
}

/// Copies the parts in use.
void copy_used(TimelineState& to, const TimelineState& from);

}  // namespace simgpu
