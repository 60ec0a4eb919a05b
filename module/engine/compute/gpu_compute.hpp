#pragma once

#include "module/engine/base/lock.hpp"
#include "module/engine/compute/launch_gate.hpp"
#include "module/engine/compute/launch_waits.hpp"
#include "module/engine/compute/meter.hpp"

namespace cgpu::module {

/// One GPU's launches: they pass the gate first, then the window; waiting threads are counted; every change
/// is reported. Safe to call from several threads.
class GpuCompute {
  public:
    GpuCompute(const EngineHost& host, std::uint32_t gpu) : gpu_(gpu), meter_(host, gpu) {}

    void bind(const wire::Orders* orders, wire::Reports* reports);
    TimeGrant request_time(const TimeRequest& request);
    void return_time(BatchId id, std::uint32_t launches, std::int64_t ns);

    bool next_open(std::uint64_t context, std::uint64_t stream, std::int64_t older_than_ns, OpenBatch& out);
    void closed(BatchId id, std::int64_t now_ns);
    BatchId oldest(std::uint64_t context);
    BatchId following(BatchId id);
    /// True: ring the doorbell, because this was the last unfinished work and others wait for it.
    bool reaped(BatchId id, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns);
    void lost(BatchId id);
    void first_launched(BatchId id, std::int64_t ns, std::int64_t now_ns);
    bool may_estimate(BatchId id);
    /// True: as `reaped`.
    bool estimated(BatchId id, std::int64_t end_ns, bool by_event, std::int64_t now_ns);
    /// Also says on the page that the process lives: by nothing else is one that waits for a kernel, which
    /// takes longer than it should, told from one that has been stopped.
    std::int64_t poll_at(std::int64_t now_ns);
    void sync_begin(std::int64_t now_ns);
    void sync_end(std::int64_t now_ns);

    /// For a handover: calls handle(*this) while no other call is in progress.
    template <class Handle>
    auto handed_over(Handle handle) {
        const Guard guard(lock_);
        return handle(*this);
    }
    LaunchGate& gate() { return gate_; }
    Meter& meter() { return meter_; }
    LaunchWaits& waits() { return waits_; }
    /// visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(now_ns_);
        visit(waiting_);
        visit(waited_ns_);
        visit(syncing_);
        visit(away_since_ns_);
        visit(usual_gap_ns_);
    }

  private:
    TimeGrant decide(const Launch& launch);
    void pass(const Launch& launch, const Look& look, TimeGrant& grant);
    void note_return(std::int64_t now_ns);
    void at(std::int64_t now_ns);
    void report();

    Lock lock_;
    const std::uint32_t gpu_;
    const wire::Orders* orders_ = nullptr;
    wire::Reports* reports_ = nullptr;
    LaunchGate gate_;
    Meter meter_;
    LaunchWaits waits_;
    std::int64_t now_ns_ = 0;  ///< the latest time that was told
    std::uint32_t waiting_ = 0;
    std::int64_t waited_ns_ = 0;
    std::uint32_t syncing_ = 0;
    std::int64_t away_since_ns_ = 0;  ///< end of the last synchronisation, until the next launch; 0: none
    std::int64_t usual_gap_ns_ = 0;
};

}  // namespace cgpu::module
