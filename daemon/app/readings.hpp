#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

    [[nodiscard]] schedule::Reading read(Nanos now);
    /// Writes the gate where it differs from what stands there, and wakes who waits on it. `holds_until`:
    /// when a closed gate that nobody renewed has run out.
    void publish(const schedule::Gate& gate, Nanos now, Nanos holds_until);

    /// By the last read(): a process claims to want the GPU and doesn't come though it was called. It is not
    /// believed until its page moves; nothing rings then, so somebody has to look.
    [[nodiscard]] bool someone_is_deaf() const { return deaf_; }

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

    void read_member(Member& member, Nanos now, schedule::Reading& sum, int& active, int& stale);

    std::uint32_t gpu_;
    std::vector<Member> members_;
    Totals gone_;
    Nanos used_ = 0;
    Nanos in_flight_ = 0;
    bool deaf_ = false;
};

}  // namespace cgpu::app
