#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/schedule/base/billed_use.hpp"
#include "core/schedule/base/common_use.hpp"
#include "core/schedule/base/reading.hpp"
#include "core/schedule/parts/page_check.hpp"
#include "daemon/app/ports/pages.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/witness/sources.hpp"

namespace cgpu::app {

/// The processes of one instance on one GPU, as the slicer sees them: merges their reports into one reading,
/// and writes the gates. The reports are the tenants' claims: each figure is bounded here before it is
/// summed.
class InstanceProcesses {
  public:
    /// `gpu`: the index of this GPU in the instance's orders.
    explicit InstanceProcesses(std::uint32_t gpu) : gpu_(gpu) {}

    void add(std::shared_ptr<ProcessPages> pages);
    /// Its use stays in the sum, with its last report and what it leaves in flight.
    void remove(const model::Process& process, Nanos now);
    [[nodiscard]] bool empty() const { return members_.empty(); }

    /// Merges the reports. While the instance can do nothing but wait (only_waits), they are read every 20
    /// ms, and in between only the waited time grows.
    [[nodiscard]] schedule::Reading read(Nanos now);
    /// Writes the gate if it changed, to all processes at once, and wakes threads that wait on it, kMostWakes
    /// at a time: the next calls wake the others, one process after the other, unless the gate is closed
    /// again. `holds_until`: when a closed gate expires that nobody renewed; up to an eighth less may be
    /// written.
    void publish(const schedule::GateOrder& gate, Nanos now, Nanos holds_until);

    /// One publish() wakes this many threads (a process without waiting threads counts as one). That takes
    /// some 100 µs, in which other instances and GPUs are not served.
    static constexpr int kMostWakes = 64;
    /// Maximum number of wakes of one process for one change of its gate: threads that sleep again as soon as
    /// they are woken must not keep the slicer busy. Further honest threads look again by themselves, within
    /// 100 ms.
    static constexpr int kMostWakesOfAProcess = 1024;
    /// By the last publish(): threads are still to be woken, so it should be called again soon.
    [[nodiscard]] bool wakes_are_left() const { return wakes_left_; }

    /// By the last publish(): launches may pass.
    [[nodiscard]] bool is_open() const { return !closed_at_; }

    /// By the last read(): a process claims to want the GPU and doesn't start although its gate was opened.
    /// Its claim is ignored until its page changes; nothing rings then, so it must be polled.
    [[nodiscard]] bool has_unresponsive_process() const { return unresponsive_; }

    /// By the last read() and publish(): launches of it have been held for a while, nothing is in flight in
    /// any process, and no thread has been woken. Until its gate opens, nothing that it does changes a
    /// decision.
    [[nodiscard]] bool only_waits() const { return only_waits_; }

    [[nodiscard]] std::vector<std::int32_t> pids() const;
    [[nodiscard]] std::vector<model::Process> all() const;
    /// What its pages say now, in the range of what they can say, and believed in nothing else.
    [[nodiscard]] std::vector<ComputeReport> reports() const;

    /// The process whose report couldn't be true, of those since the last call; empty: none of them.
    [[nodiscard]] std::optional<std::int32_t> take_doubtful_process() {
        return std::exchange(doubtful_process_, std::nullopt);
    }

    struct Totals {
        Nanos used = 0;
        Nanos waited = 0;
        Nanos longest_kernel = 0;
        std::uint64_t launches = 0;
    };
    /// By the last read(). `used`: by the last charged(); it never shrinks.
    [[nodiscard]] Totals totals() const;
    /// How long after the last read() the next one should be: the use of several processes together is known
    /// as well as count() is called often. kForever: there are no several ones.
    [[nodiscard]] Nanos look_within() const;

    /// By the last read() of what waits, and by the pages now: launches are held at the gate, or work isn't
    /// measured yet, however long ago it was launched. There are kernels of hours.
    [[nodiscard]] bool is_at_work() const;

    /// Work that its processes launched while there was no daemon may still run, or others may only now come
    /// back that have such work. `back_until`: who connects later is new.
    [[nodiscard]] bool settles(Nanos now, Nanos back_until) const;
    /// Whether what was measured since the last call is their own use. What runs beside others' work, because
    /// no gate kept them apart, is measured with the others' time.
    void count(bool own, Nanos now) { count(own, now, 0); }
    /// What the slicer has charged in the step after that (BilledUse).
    void charged(Nanos used) { billed_.charged(used); }

    /// How long its launches waited that had to wait: all so far. Reads the pages, whose counts wrap, so it
    /// must be called before a process has ended four thousand million waits.
    [[nodiscard]] view::LaunchWaits launch_waits();

  private:
    struct Member {
        std::shared_ptr<ProcessPages> pages;
        schedule::PageCheck check;
        Nanos used = 0;  ///< accepted so far
        Nanos first_seen = 0;
        Nanos base = 0;          ///< the part of the page's figure that was used before it was added
        Nanos seen = 0;          ///< the part of `used` that was counted, or not
        bool reported = false;   ///< its page is no longer empty
        bool came_back = false;  ///< by its first report it had used the GPU before it was added
        bool drained = false;    ///< since then it was seen without work in flight
        Nanos in_flight = 0;
        Nanos waited = 0;
        Nanos longest = 0;
        std::uint64_t launches = 0;
        Nanos waits_ended = 0;  ///< the part of LaunchWaits::sum that was counted
        std::array<std::uint32_t, wire::kWaitBuckets> waits_read{};
        bool wants = false;   ///< by its page
        Nanos updated = 0;    ///< what its page said when it was read last
        Nanos called_at = 0;  ///< when it was woken for an open gate; 0: it wasn't, or its page changed since
        int to_wake = 0;      ///< at most this many of its threads still sleep through the last change
        bool written = false;
        schedule::GateOrder gate;
    };

    /// The part of its report that only grows.
    void read_counts(Member& member, Nanos now) const;
    void read_waits(Member& member);
    void check(Member& member, Nanos in_flight, Nanos now);
    void read_member(Member& member, Nanos now);
    /// What was measured since it was counted last.
    static Nanos take_fresh(Member& member);
    [[nodiscard]] Nanos lost_at_end(const Member& member, Nanos now) const;
    /// `left`: what one had that has ended.
    void count(bool own, Nanos now, Nanos left);
    void read_all(Nanos now);
    static void call(Member& member, Nanos now);
    void wake_some(Nanos now);

    std::vector<Member> members_;
    Totals gone_;  ///< `used`: all of it
    schedule::CommonUse common_;
    schedule::BilledUse billed_;
    view::LaunchWaits waits_;
    Nanos read_at_ = 0;  ///< when the reports were read last; the next fields are their contents
    schedule::Reading sum_;
    Nanos oldest_start_ = 0;  ///< since when the oldest work in flight may run
    std::uint32_t gpu_;
    int active_ = 0;                  ///< processes with work in flight
    int stale_ = 0;                   ///< of them, stopped ones
    int waiting_ = 0;                 ///< whose launches are held
    int launching_ = 0;               ///< processes that have launched anything on this GPU so far
    std::size_t wake_next_ = 0;       ///< in members_: the process that is woken first
    std::optional<Nanos> closed_at_;  ///< by publish()
    Nanos renew_at_ = 0;              ///< when to write again until when the gate holds
    std::optional<std::int32_t> doubtful_process_;  ///< host pid
    bool unresponsive_ = false;
    bool wakes_left_ = false;
    bool only_waits_ = false;
};

}  // namespace cgpu::app
