#pragma once

#include <memory>
#include <vector>

#include "daemon/app/compute/doorbell_sleeper.hpp"

namespace cgpu::app {

/// As many helpers as are needed; none if the slicer can wait on all doorbells by itself. Not thread-safe:
/// only the slicer uses it.
///
/// Without helpers the slicer would poll the doorbells of more than 127 instances: 200 idle ones took 3559
/// wake-ups a second and 7 % of a core, and take 0.3 and nothing with helpers (bench/programs/doorbell_cost).
class DoorbellSleepers {
  public:
    using Doorbell = std::shared_ptr<const InstanceDoorbell>;

    explicit DoorbellSleepers(std::atomic<std::uint32_t>& word) : word_(word) {}

    /// Has helpers wait on these, too. Returns those for which there is none: no more threads can be created,
    /// or futex_waitv is missing.
    [[nodiscard]] std::vector<HeardDoorbell> keep(std::vector<HeardDoorbell> doorbells);
    /// The doorbells that have fired since. No helper waits on them any more.
    [[nodiscard]] std::vector<Doorbell> take_back();
    /// Stops waiting on doorbells for which `stays(doorbell)` is false. The threads stay: a helper without
    /// doorbells costs nothing, and waiting for its end would delay the slicer.
    template <class Stays>
    void retain(const Stays& stays) {
        for (auto& group : groups_) {
            const auto gone =
                std::erase_if(group.doorbells, [&](const auto& each) { return !stays(each.doorbell); });
            if (gone > 0) group.sleeper->keep(group.doorbells);
        }
    }

    [[nodiscard]] std::size_t threads() const { return groups_.size(); }
    /// How often the helpers have been woken so far.
    [[nodiscard]] std::uint64_t wakes() const;

  private:
    struct Group {
        std::unique_ptr<DoorbellSleeper> sleeper;
        std::vector<HeardDoorbell> doorbells;
    };
    bool add_group();

    std::atomic<std::uint32_t>& word_;
    std::vector<Group> groups_;
};

}  // namespace cgpu::app
