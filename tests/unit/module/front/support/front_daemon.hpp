#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "core/wire/message.hpp"
#include "core/wire/pages.hpp"

/// The test's settings for its daemon, and the daemon's results. Shared memory: the daemon is a process of
/// its own, so that a test may close all its descriptors, stop the daemon or kill it.
struct DaemonControl {
    // Told.
    std::atomic<std::uint64_t> limit_bytes{1u << 30};
    std::atomic<std::uint32_t> isolate_memory{1};
    std::atomic<std::uint32_t> page_version{cgpu::wire::kPageVersion};
    std::atomic<std::uint32_t> achieved_share{0};  ///< as in the page
    std::atomic<std::uint32_t> gate{2};            ///< a wire::GateState
    std::atomic<std::int64_t> hold_ns{
        10'000'000'000};                 ///< how long what the gate says holds without a word more
    std::atomic<std::uint32_t> down{0};  ///< 1: no socket, no connections
    std::atomic<std::uint32_t> mute{0};  ///< 1: connections are taken, nothing is answered
    std::atomic<std::uint32_t> mute_after_refusals{0};  ///< falls mute behind that many
    std::atomic<std::uint64_t> recall_bytes{0};         ///< recalls so much, once
    std::atomic<std::uint32_t> processes{0};            ///< so many are listed: see listed_process
    std::atomic<std::uint64_t> switch_request{
        0};  ///< orders a Switch of this number, once; to what is said here:
    std::atomic<std::uint32_t> switch_version{0};
    std::atomic<std::uint32_t> switch_deadline_ms{0};
    char switch_engine[128] = {};
    // Read.
    std::atomic<std::uint32_t> is_down{0};
    std::atomic<std::uint32_t> is_mute{0};
    std::atomic<std::uint64_t> leased_bytes{0};
    std::atomic<std::uint64_t> context_bytes{0};
    std::atomic<std::uint64_t> charged_bytes{0};  ///< as the last report page says
    std::atomic<std::uint32_t> greeted{0};        ///< Hellos answered
    std::atomic<std::uint32_t> driver_asked{0};   ///< fronts that asked for the driver's library
    std::atomic<std::uint32_t> asks{0};
    std::atomic<std::uint32_t> refusals{0};
    std::atomic<std::uint32_t> refused_told{0};        ///< allocations that the front says it has refused
    std::atomic<std::uint64_t> refused_told_bytes{0};  ///< the last one's
    std::atomic<std::uint64_t> shared_told{0};         ///< bytes of others that the front says it has opened
    std::atomic<std::uint64_t> exported_told{0};       ///< bytes that the front says it has exported
    /// What it has given back of them. As long as the test doesn't take it off again, a descriptor keeps it.
    std::atomic<std::uint64_t> kept_bytes{0};
    std::atomic<std::uint32_t> gives{0};
    std::atomic<std::uint32_t> notices{0};
    std::atomic<std::uint32_t> last_notice{0};  ///< a wire::Event
    std::atomic<std::uint32_t> contexts_done{0};
    std::atomic<std::uint32_t> contexts_gone{0};
    std::atomic<std::uint32_t> moved_told{0};   ///< so often was said that memory may have moved, ...
    std::atomic<std::uint64_t> moved_bytes{0};  ///< ... of these that the process is rid of
    std::atomic<std::uint32_t> rings{0};
    std::atomic<std::uint32_t> told_running{0};     ///< so often was said unasked which engine runs
    std::atomic<std::uint32_t> running_version{0};  ///< as was said last
    std::atomic<std::uint64_t> switched_request{
        0};                                         ///< the last Switch that was answered; how, is said here:
    std::atomic<std::uint32_t> switched_result{0};  ///< a wire::SwitchResult
    std::atomic<std::uint64_t> switched_held_ns{0};
    char switched_detail[88] = {};
    std::atomic<std::int64_t> used_ns{0};
    std::atomic<std::int64_t> in_flight_ns{0};
    std::atomic<std::uint32_t> wants{0};
    std::atomic<std::uint32_t> small_transfers{0};
    std::atomic<std::uint64_t> reads{0};  ///< how often these four have been read, every 2 ms
};

/// The process number `i` that the daemon lists.
constexpr cgpu::wire::ProcessUse listed_process(std::uint32_t i) {
    return {1000 + 10 * i, 0, (1 + std::uint64_t{i}) << 20};
}

/// A daemon of one instance with one GPU, at ./link/socket. It serves until it is killed with its parent.
class FakeDaemon {
  public:
    /// `uuid`: of the GPU, as cuDeviceGetUuid gives it.
    explicit FakeDaemon(const std::array<std::uint8_t, 16>& uuid);
    ~FakeDaemon();
    FakeDaemon(const FakeDaemon&) = delete;
    FakeDaemon& operator=(const FakeDaemon&) = delete;

    DaemonControl& control() { return *control_; }
    pid_t pid() const { return pid_; }

  private:
    DaemonControl* control_;
    pid_t pid_;
};

constexpr std::uint64_t kContextEstimate = 256u << 20;
