#pragma once

#include <cstddef>
#include <cstdint>

#include "module/engine/abi/api.hpp"

namespace cgpu::module {

/// Estimated GPU time at which a batch is closed: long enough that two events cost nothing.
constexpr std::int64_t kBatchLengthNs = 500'000;

/// open → closing → closed → gone; docs/journeys/batch.md draws it.
/// - opened: by a launch for which its stream has no open batch.
/// - open → closing: it is filled, or its one launch is measured by itself. Batches that the front closes (a
///   wait, a capture, a pause) skip `closing`, and so does one whose closing an older engine began.
/// - closing → closed: the end event is recorded, or a wait for an estimated batch begins. An estimated batch
///   can be closed twice: its end is recorded after all if that wait takes long.
/// - closed → gone, charged: what its events show (reaped), or its estimate (estimated). Out of every state:
///   lost, and charged its estimate.
enum class BatchState : std::uint32_t {
    open = 1,     ///< takes launches
    closing = 2,  ///< the front has been told to record its end
    closed = 3,   ///< its end event is on the stream
};

/// Launches on one stream between two events.
struct Batch {
    static constexpr std::size_t kMostFunctions = 8;

    BatchId id;
    BatchState state;
    std::uint64_t context;
    std::uint64_t stream;
    std::int64_t first_ns;     ///< when its first launch was let through
    std::int64_t last_ns;      ///< when launches were last let through
    std::int64_t start_ns;     ///< since when it has been the oldest and has run, as far as known
    std::int64_t closed_ns;    ///< when its end event was recorded
    std::int64_t due_mark;     ///< Backlog::mark behind its last launch
    std::int64_t estimate_ns;  ///< of all its launches together
    std::int64_t pace_ns;      ///< time between its last two requests, for each launch
    std::uint32_t last_count;  ///< launches let through then
    std::uint64_t last_function;
    std::uint32_t launches;
    bool unmeasured;         ///< its one launch is of a function that was never measured
    bool overlapped;         ///< other work ran beside it on another stream
    bool foreign;            ///< another instance's work may have run beside it
    bool waits_across_gpus;  ///< it may have waited for other GPUs
    bool gap;                ///< the GPU is thought to have been idle within it
    std::uint32_t function_count;
    std::uint64_t functions[kMostFunctions];  ///< the first few different ones
    double scale = 1;                         ///< factor of costs when time was last granted in it
    bool estimated = false;                   ///< has no start event: see Meter::may_estimate
    bool found_idle = false;  ///< its one launch is measured by itself, and surely found the GPU idle
    std::uint32_t launches_before = 0;  ///< of the batch before it on the stream, if that was filled; or 0
    std::int64_t mean_before_ns = 0;    ///< estimate of one of those
    std::int64_t run_up_ns = 0;  ///< from its start event to its first kernel, as far as RunUp counts it; 0:
                                 ///< unknown

    void add(std::uint64_t function, std::int64_t each, std::int64_t now_ns);
    /// Further launches of any functions that will take this long together.
    void add_ahead(std::uint32_t count, std::int64_t ns);
    /// Launches that didn't happen.
    void take_back_time(std::uint32_t count, std::int64_t ns);

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(id);
        visit(state);
        visit(context);
        visit(stream);
        visit(first_ns);
        visit(last_ns);
        visit(start_ns);
        visit(closed_ns);
        visit(due_mark);
        visit(estimate_ns);
        visit(pace_ns);
        visit(last_count);
        visit(last_function);
        visit(launches);
        visit(unmeasured);
        visit(overlapped);
        visit(foreign);
        visit(gap);
        visit(function_count);
        for (std::uint64_t& function : functions) visit(function);
        visit(scale);
        visit(estimated);
        visit(waits_across_gpus);
        visit(found_idle);
        visit(launches_before);
        visit(mean_before_ns);
        visit(run_up_ns);
    }
};

/// The unfinished batches of one GPU, oldest first. There are a few tens at most (the window bounds them), so
/// all look-ups walk the list.
class Batches {
  public:
    /// `tag` makes the ids of several lists different; it is stored in their top byte.
    Batches(const EngineHost& host, std::uint32_t tag) : host_(host), tag_(tag) {}
    ~Batches();
    Batches(const Batches&) = delete;
    Batches& operator=(const Batches&) = delete;

    static std::uint32_t tag_of(BatchId id) { return static_cast<std::uint32_t>(id >> 56) - 1; }

    /// Null: no memory.
    Batch* add(std::uint64_t context, std::uint64_t stream, std::int64_t now_ns);
    /// Adds a batch of another engine; its id stays.
    bool adopt(const Batch& batch);
    std::uint64_t serial() const { return serial_; }
    void go_on_from(std::uint64_t serial) { serial_ = serial; }
    void remove(BatchId id);

    bool empty() const { return first_ == nullptr; }
    Batch* oldest() { return first_ == nullptr ? nullptr : &first_->batch; }
    /// Null: there is none, or more than one.
    Batch* only() { return first_ == last_ ? oldest() : nullptr; }
    Batch* find(BatchId id);

    /// The first for which test(batch) is true, of all or of those after `after`; null if there is none.
    template <class Test>
    Batch* first(Test test, BatchId after = 0) {
        bool on = after == 0;
        for (Node* node = first_; node != nullptr; node = node->next) {
            if (on && test(node->batch)) return &node->batch;
            if (node->batch.id == after) on = true;
        }
        return nullptr;
    }
    /// Cycles through the open batches, from the last `named` one on; see EngineTable::next_open_batch.
    bool next_open(std::uint64_t context, std::uint64_t stream, std::int64_t older_than_ns, BatchId& named,
                   OpenBatch& out);
    /// 0: there is none.
    BatchId oldest_closed(std::uint64_t context, BatchId after = 0);
    /// The next closed one of its context.
    BatchId following(BatchId id);

    template <class Visit>
    void each(Visit visit) {
        for (Node* node = first_; node != nullptr; node = node->next) visit(node->batch);
    }

  private:
    struct Node {
        Batch batch;
        Node* next;
    };

    Node* append(const Batch& batch);

    const EngineHost host_;
    const std::uint64_t tag_;
    std::uint64_t serial_ = 0;
    Node* first_ = nullptr;
    Node* last_ = nullptr;
    Node* unused_ = nullptr;  ///< kept for the next ones
};

}  // namespace cgpu::module
