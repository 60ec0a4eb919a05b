#pragma once

#include <cstdint>

#include "core/wire/pages.hpp"
#include "module/engine/compute/backlog.hpp"
#include "module/engine/compute/batches.hpp"
#include "module/engine/compute/busy_time.hpp"
#include "module/engine/compute/estimating.hpp"
#include "module/engine/compute/filled_streams.hpp"
#include "module/engine/compute/idle_time.hpp"
#include "module/engine/compute/lengths/functions.hpp"
#include "module/engine/compute/lengths/sampling.hpp"
#include "module/engine/compute/run_up.hpp"
#include "module/engine/compute/window.hpp"

namespace cgpu::module {

/// The meter's figures for one GPU, as the report has them.
struct Figures {
    std::int64_t used_ns = 0;
    std::int64_t in_flight_ns = 0;
    std::int64_t oldest_start_ns = 0;
    std::int64_t oldest_ns = 0;
    std::int64_t longest_ns = 0;
    std::uint64_t launches = 0;
    bool unmeasured = false;
};

/// What the gate allows at this moment.
struct Allowance {
    std::int64_t room_ns;    ///< until the limit
    std::int64_t window_ns;  ///< may be in flight
    wire::Overlap overlap;   ///< whether another's work may run at the same time
};

/// Whether the window lets a launch pass, and its place in a batch.
struct Admission {
    bool wait = false;
    std::int64_t until_ns = 0;  ///< wait: ask again then
    BatchId batch = 0;          ///< 0: unmetered, because there is no memory
    bool opens = false;
    bool closes = false;
    std::uint32_t more = 0;  ///< launches that may follow without asking
    // See TimeGrant.
    std::int64_t time_ns = 0;
    std::int64_t cost_ns = 0;
    std::uint32_t ask_after = 0;
    bool any_function = false;
    BatchId close_first = 0;

    static Admission waits_until(std::int64_t ns) {
        Admission admission;
        admission.wait = true;
        admission.until_ns = ns;
        return admission;
    }
};

/// Measures one GPU's time for one process and keeps the work in flight within the window. Launches go into
/// batches, one open batch per stream, each closed at 500 µs or 1024 launches. The used time is the union of
/// the batches' times on the GPU; the estimate of the time in flight is based on how long each function took
/// before.
class Meter {
  public:
    Meter(const EngineHost& host, std::uint32_t gpu) : functions_(host), batches_(host, gpu) {}

    Admission admit(const Launch& launch, const Allowance& allowance);
    void count_unmetered(std::uint32_t count) { launches_ += count; }
    /// Launches of a function that passed on granted time.
    void passed(std::uint64_t function, std::uint32_t count) { functions_.count(function, count); }
    /// Launches that were granted, or let through, and did not happen.
    void return_time(BatchId id, std::uint32_t count, std::int64_t ns);

    /// Cycles through the open batches; see EngineTable::next_open_batch.
    bool next_open(std::uint64_t context, std::uint64_t stream, std::int64_t older_than_ns, OpenBatch& out) {
        return batches_.next_open(context, stream, older_than_ns, named_, out);
    }
    /// See EngineTable::first_launched.
    void first_launched(BatchId id, std::int64_t ns, std::int64_t now_ns);
    void closed(BatchId id, std::int64_t now_ns);
    BatchId oldest(std::uint64_t context) { return batches_.oldest_closed(context); }
    BatchId following(BatchId id) { return batches_.following(id); }
    void reaped(BatchId id, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns);
    void lost(BatchId id, std::int64_t now_ns);

    /// Whether a batch that was just opened may go without events: see Estimating. Only while nothing else
    /// runs beside it, because their times couldn't be told apart, and if its function's length is known
    /// well.
    bool may_estimate(BatchId id);
    /// Such a batch has ended: see EngineTable::estimated.
    void estimated(BatchId id, std::int64_t end_ns, bool by_event, std::int64_t now_ns);
    /// The program begins to wait for the GPU.
    void wait_begins();

    bool drained() const { return batches_.empty(); }
    std::int64_t spent_ns() const { return used_ns_ + in_flight_ns_; }
    std::int64_t poll_at(std::int64_t now_ns);
    Figures figures();

    // For a handover. State that is not among the fields follows from the batches.
    bool adopt(const Batch& batch);
    Batches& batches() { return batches_; }
    Functions& functions() { return functions_; }
    BusyTime& busy() { return busy_; }
    Window& window() { return window_; }
    Backlog& backlog() { return backlog_; }
    OverlapScale& overlap() { return overlap_; }
    Estimating& estimating() { return estimating_; }
    FilledStreams& filled() { return filled_; }
    Sampling& sampling() { return sampling_; }
    RunUp& run_up() { return run_up_; }
    /// visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(used_ns_);
        visit(longest_ns_);
        visit(launches_);
        visit(idle_.found_ns());
        visit(named_);
        visit(sample_);
        visit(idle_.ahead_ns());
    }

  private:
    struct Cost {
        std::int64_t each_ns;
        double scale;  ///< the factor in it: see OverlapScale
        bool measured;
        bool beside;  ///< other streams have unfinished work
    };

    Cost cost_of(const Launch& launch);
    bool held(const Allowance& allowance, const Cost& cost, std::int64_t now_ns, Admission& admission);
    Flight flight();
    Batch* open_batch(const Launch& launch, wire::Overlap overlap);
    void begin_closing(Batch& batch);
    Sampling::Turn turn_of(const Launch& launch, const Cost& cost, const Batch* batch);
    bool is_due_alone(const Launch& launch, const Cost& cost, const Batch* batch);
    bool is_too_much(const Launch& launch, const Cost& cost, const Batch& batch);
    std::int64_t room_for_more(const Batch& batch, const Cost& cost, const Allowance& allowance,
                               std::int64_t now_ns);
    void grant_time(Batch& batch, const Launch& launch, const Cost& cost, std::int64_t room_ns,
                    Admission& admission);
    void put_in(Batch& batch, const Launch& launch, const Cost& cost);
    void note_gap(std::int64_t now_ns);
    void finish(Batch& batch, std::int64_t end_ns, std::int64_t now_ns);
    std::int64_t end_of_use(Batch& batch, std::int64_t start_ns, std::int64_t end_ns, bool drained);

    Functions functions_;
    Batches batches_;
    FilledStreams filled_;
    BusyTime busy_;
    Window window_;
    Backlog backlog_;
    OverlapScale overlap_;
    Estimating estimating_;
    Sampling sampling_;
    RunUp run_up_;
    IdleTime idle_;
    std::int64_t used_ns_ = 0;
    std::int64_t in_flight_ns_ = 0;
    std::int64_t longest_ns_ = 0;
    std::uint64_t launches_ = 0;
    std::uint32_t unmeasured_ = 0;  ///< batches in flight of a function never measured
    BatchId named_ = 0;             ///< by next_open, last
    BatchId sample_ = 0;            ///< the batch of the last sample
};

}  // namespace cgpu::module
