#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/reading.hpp"
#include "daemon/app/pages.hpp"

namespace cgpu::app {

/// The processes of one instance on one GPU, as the slicer sees them: their reports put together into one
/// reading, and the gates written back. What the reports say is the tenants' word: each figure is bounded
/// here before it is summed.
class Readings {
  public:
    /// `gpu`: the index of this GPU in the instance's orders.
    explicit Readings(std::uint32_t gpu) : gpu_(gpu) {}

    void add(std::shared_ptr<ProcessPages> pages);
    /// What it used stays in the sum.
    void remove(const model::Process& process);
    [[nodiscard]] bool empty() const { return members_.empty(); }

    /// What the reports say. Where nothing but waiting can go on (only_waits), they are looked at every 20
    /// ms, and in between only the time that was waited grows.
    [[nodiscard]] schedule::Reading read(Nanos now);
    /// Writes the gate where it differs from what stands there, and wakes who waits on it. `holds_until`:
    /// when a closed gate that nobody renewed has run out; it may be written so that an eighth of that is
    /// missing.
    void publish(const schedule::Gate& gate, Nanos now, Nanos holds_until);

    /// By the last read(): a process claims to want the GPU and doesn't come though it was called. It is not
    /// believed until its page moves; nothing rings then, so somebody has to look.
    [[nodiscard]] bool someone_is_deaf() const { return deaf_; }

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
        Nanos called_at = 0;  ///< its gate was opened while it wanted that; 0: or it has moved since
        bool written = false;
        schedule::Gate gate;
    };

    void read_member(Member& member, Nanos now);
    void read_all(Nanos now);

    std::uint32_t gpu_;
    std::vector<Member> members_;
    Totals gone_;
    Nanos read_at_ = 0;  ///< when the reports were looked at last, and what they said:
    schedule::Reading sum_;
    int active_ = 0;     ///< processes with work in flight
    int stale_ = 0;      ///< of them, stopped ones
    int waiting_ = 0;    ///< whose launches are held
    int launching_ = 0;  ///< who has launched anything on this GPU so far
    bool deaf_ = false;
    bool only_waits_ = false;
    std::optional<Nanos> closed_at_;  ///< by publish()
    Nanos renew_at_ = 0;              ///< when the pages are to be told again how long the gate holds
};

}  // namespace cgpu::app
