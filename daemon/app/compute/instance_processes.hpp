#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/base/reading.hpp"
#include "daemon/app/ports/pages.hpp"

namespace cgpu::app {

/// The processes of one instance on one GPU, as the slicer sees them: their reports put together into one
/// reading, and the gates written back. What the reports say is the tenants' word: each figure is bounded
/// here before it is summed.
class InstanceProcesses {
  public:
    /// `gpu`: the index of this GPU in the instance's orders.
    explicit InstanceProcesses(std::uint32_t gpu) : gpu_(gpu) {}

    void add(std::shared_ptr<ProcessPages> pages);
    /// What it used stays in the sum.
    void remove(const model::Process& process);
    [[nodiscard]] bool empty() const { return members_.empty(); }

    /// What the reports say. Where nothing but waiting can go on (only_waits), they are looked at every 20
    /// ms, and in between only the time that was waited grows.
    [[nodiscard]] schedule::Reading read(Nanos now);
    /// Writes the gate where it differs from what stands there, to all processes at once, and wakes who waits
    /// on it, kMostWakes threads at a time: the others are woken by the next calls, one process after the
    /// other, as long as the gate isn't closed again. `holds_until`: when a closed gate that nobody renewed
    /// has run out; it may be written so that an eighth of that is missing.
    void publish(const schedule::GateOrder& gate, Nanos now, Nanos holds_until);

    /// So many threads are woken by one publish() (a process in which nobody waits counts as one): some 100
    /// µs, for which other instances and GPUs are not served.
    static constexpr int kMostWakes = 64;
    /// And so many of one process for one change of its gate. Threads that go to sleep again as soon as they
    /// are woken must not keep the slicer busy. Honest ones beyond that look again by themselves, within 100
    /// ms.
    static constexpr int kMostWakesOfAProcess = 1024;
    /// By the last publish(): some are still to be woken, so it should be called again soon.
    [[nodiscard]] bool wakes_are_left() const { return wakes_left_; }

    /// By the last publish(): launches may pass.
    [[nodiscard]] bool is_open() const { return !closed_at_; }

    /// By the last read(): a process claims to want the GPU and doesn't come though it was called. It is not
    /// believed until its page moves; nothing rings then, so somebody has to look.
    [[nodiscard]] bool has_unresponsive_process() const { return unresponsive_; }

    /// By the last read() and publish(): launches of it have been held for a while, nothing is in flight in
    /// any process, and none has been called. Nothing that it does is news before its gate opens.
    [[nodiscard]] bool only_waits() const { return only_waits_; }

    [[nodiscard]] std::vector<std::int32_t> pids() const;

    struct Totals {
        Nanos used = 0;
        Nanos waited = 0;
        Nanos longest_kernel = 0;
        std::uint64_t launches = 0;
    };
    /// By the last read().
    [[nodiscard]] Totals totals() const;

  private:
    struct Member {
        std::shared_ptr<ProcessPages> pages;
        Nanos used = 0;  ///< accepted so far
        Nanos first_seen = 0;
        Nanos base = 0;  ///< of what the page shows: used before it was added
        Nanos in_flight = 0;
        Nanos waited = 0;
        Nanos longest = 0;
        std::uint64_t launches = 0;
        bool wants = false;   ///< by its page
        Nanos updated = 0;    ///< what its page said when it was read last
        Nanos called_at = 0;  ///< it was woken for an open gate that it wanted; 0: or it has moved since
        int to_wake = 0;      ///< threads of it may still sleep on the change before; at most so many
        bool written = false;
        schedule::GateOrder gate;
    };

    void read_member(Member& member, Nanos now);
    void read_all(Nanos now);
    static void call(Member& member, Nanos now);
    void wake_some(Nanos now);

    std::uint32_t gpu_;
    std::vector<Member> members_;
    Totals gone_;
    Nanos read_at_ = 0;  ///< when the reports were looked at last, and what they said:
    schedule::Reading sum_;
    int active_ = 0;     ///< processes with work in flight
    int stale_ = 0;      ///< of them, stopped ones
    int waiting_ = 0;    ///< whose launches are held
    int launching_ = 0;  ///< who has launched anything on this GPU so far
    bool unresponsive_ = false;
    bool wakes_left_ = false;
    std::size_t wake_next_ = 0;  ///< in members_: who is woken first
    bool only_waits_ = false;
    std::optional<Nanos> closed_at_;  ///< by publish()
    Nanos renew_at_ = 0;              ///< when the pages are to be told again how long the gate holds
};

}  // namespace cgpu::app
