#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/context/context_memory.hpp"
#include "tests/sim/driver/stream/queue.hpp"
#include "tests/sim/driver/stream/stream.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

class Observer;
class Process;
class Runtime;

/// A CUDA context: a client of one GPU. A green context is one that has its memory, code and events in common
/// with the primary context, its parent. The object outlives its destruction, because threads may still have
/// it as their current context.
class Context : public Tagged<0x747865746e6f63ULL> {
  public:
    Context(Runtime& runtime, const Process& process, Observer& observer, std::uint32_t ordinal, bool primary,
            unsigned int flags, Context* parent = nullptr);

    /// Takes a place on the GPU and the memory that a context costs.
    CUresult open();
    /// Waits for the work, then frees everything.
    void close();
    bool is_open() const { return open_.load(std::memory_order_acquire); }

    /// For code above contexts.
    Runtime& runtime() const { return runtime_; }
    std::uint32_t ordinal() const { return ordinal_; }
    std::uint32_t gpu() const { return gpu_; }  ///< Index in the device file.
    bool primary() const { return primary_; }
    Context* parent() const { return parent_; }  ///< nullptr: it isn't green.
    /// The context that has the memory and the code.
    Context& resources() { return parent_ ? *parent_ : *this; }
    std::uint64_t id() const { return serial_; }
    unsigned int flags = 0;

    std::uint32_t queue_count() const { return queue_count_.load(std::memory_order_acquire); }
    Queue& queue(std::uint32_t index) { return *queues_[index]; }

    Stream& legacy_stream() { return *legacy_; }
    /// The calling thread's default stream, made at its first use.
    Stream& per_thread_stream();
    Stream* create_stream(unsigned int stream_flags, int priority);
    void destroy_stream(Stream* stream);
    /// A stream of the context into which parallel branches of graphs are launched.
    Stream& graph_lane(std::size_t number, int priority);
    /// A stream of the context that notifies other processes of events.
    Stream& export_stream();

    /// Adds an operation to the stream, after what the rules of the legacy default stream order before it.
    std::uint64_t submit(Stream& stream, Operation operation);
    /// Makes later operations of the stream wait for the operation `sequence` of another queue.
    void submit_wait(Stream& stream, Queue& on, std::uint64_t sequence);
    /// Waits for everything that was submitted so far.
    void synchronize();

    /// The error of a kernel, if there was one: every later call reports it.
    CUresult error() const { return error_.load(std::memory_order_relaxed); }
    void fail(CUresult error) { error_.store(error, std::memory_order_relaxed); }

    /// The blocks from which allocations under 2 MiB are taken; the runtime's memory guards them.
    BlockHeap small_blocks;
    ContextMemory own_memory;

  private:
    std::uint64_t cost() const;
    Stream* create_stream_locked(unsigned int stream_flags, int priority);
    /// Blocks while the queue is full, as a launch does in CUDA.
    std::uint64_t push(Queue& queue, Operation operation);
    Queue* least_loaded_queue(bool blocking);
    void order_with_legacy_stream(Stream& stream);

    Runtime& runtime_;
    const Process& process_;
    Observer& observer_;
    std::uint32_t ordinal_;
    std::uint32_t gpu_;
    bool primary_;
    Context* parent_;
    std::atomic<bool> open_{false};
    std::uint32_t client_ = 0;
    std::uint64_t serial_ = 0;
    std::atomic<CUresult> error_{CUDA_SUCCESS};

    std::mutex mutex_;
    std::array<std::unique_ptr<Queue>, kMaxQueues> queues_;
    std::atomic<std::uint32_t> queue_count_{0};
    std::unique_ptr<Stream> legacy_;
    std::set<Stream*> streams_;
    std::map<std::pair<int, std::size_t>, Stream*> graph_lanes_;  ///< By priority and number.
    Stream* export_stream_ = nullptr;
    std::uint64_t next_stream_id_ = 1;
};

}  // namespace simgpu
