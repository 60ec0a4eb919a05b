#pragma once

#include <memory>
#include <vector>

#include "daemon/app/compute/bell_sleeper.hpp"

namespace cgpu::app {

/// As many sleepers as it takes, none where the slicer can sleep on all bells by itself. Not thread-safe: the
/// slicer's own.
class BellSleepers {
  public:
    using Bell = std::shared_ptr<const InstanceBell>;

    explicit BellSleepers(std::atomic<std::uint32_t>& word) : word_(word) {}

    /// Has these slept on, too, and takes those out that it couldn't: there are no more threads to be had, or
    /// futex_waitv is missing.
    [[nodiscard]] std::vector<HeardBell> keep(std::vector<HeardBell> bells);
    /// Those that have rung since, or that somebody woke on. Nobody sleeps on them any more.
    [[nodiscard]] std::vector<Bell> take_back();
    /// Sleeps on no other bells any more than those for which `stays(bell)` is true. The threads stay: one
    /// that has no bell costs nothing, and waiting for its end would hold up the slicer.
    template <class Stays>
    void retain(const Stays& stays) {
        for (auto& group : groups_) {
            const auto gone = std::erase_if(group.bells, [&](const auto& each) { return !stays(each.bell); });
            if (gone > 0) group.sleeper->keep(group.bells);
        }
    }

    [[nodiscard]] std::size_t threads() const { return groups_.size(); }
    /// How often its threads have been woken so far.
    [[nodiscard]] std::uint64_t wakes() const;

  private:
    struct Group {
        std::unique_ptr<BellSleeper> sleeper;
        std::vector<HeardBell> bells;
    };
    bool add_group();

    std::atomic<std::uint32_t>& word_;
    std::vector<Group> groups_;
};

}  // namespace cgpu::app
