#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::system {

/// Looks for processes in which the fronts can't work, and can't say so: those whose chroot or sandbox has
/// the fronts, and not the link to cgpud (is_cut_off). Nothing tells cgpud of them, so while there are
/// instances it goes through /proc every two seconds, and reads the mounts of what has come lately. A process
/// that ends sooner isn't seen, nor is one that changes its root later than six seconds after its start. A
/// root or sandbox is told of once, by its youngest process.
class CutOffWatch final : public app::EventOutlet {
  public:
    static constexpr app::Nanos kEvery = 2 * app::kSecond;
    /// How often a process is looked at: sandboxes change their mounts when they begin.
    static constexpr int kLooks = 3;

    /// `found`: a process's pid. `loop` outlives this object.
    CutOffWatch(app::Loop& loop, std::function<void(std::int32_t)> found)
        : loop_(loop), found_(std::move(found)) {}

    void happened(const app::Event&, const app::Stamp&) override {}
    void instance_known(const model::Instance& instance) override;
    void instance_forgotten(const model::InstanceId& id) override;

  private:
    void look();
    void look_on();
    /// Whether the whole text of its mounts was read, which can take a millisecond.
    bool look_at(std::int32_t pid);

    app::Loop& loop_;
    std::function<void(std::int32_t)> found_;
    std::set<model::InstanceId> instances_;
    std::unordered_map<std::int32_t, int> looks_;  ///< at each process that there was last time
    std::vector<std::int32_t> pids_;               ///< to look at in this round, the oldest first
    /// Trees of mounts, by the id of the first mount that a process shows: those of this round, and those
    /// that were told of.
    std::unordered_set<std::string> seen_;
    std::unordered_set<std::string> told_;
    app::WatchPtr turn_;
};

}  // namespace cgpu::system
