#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "tests/programs/fire/chance.hpp"
#include "tests/programs/fire/desk.hpp"
#include "tests/programs/fire/journal.hpp"
#include "tests/programs/fire/plan.hpp"

namespace programs::fire {

/// Starts workers, stops some of them for a while, and kills all of them, each at its own moment: after a
/// number of steps of its work, or so soon after its start that it may not have begun to work.
class Master {
  public:
    explicit Master(const Plan& plan);

    /// @return whether all workers lived until they were killed.
    bool run();

  private:
    struct Worker {
        pid_t pid = 0;  ///< 0: none
        Desk* desk = nullptr;
        std::uint64_t steps = 0;      ///< after so many of them
        std::int64_t after_ns = 0;    ///< and so much later it is killed
        std::int64_t due_ns = 0;      ///< when that is; 0: not known yet
        std::uint64_t stop_at = 0;    ///< steps; 0: never
        std::int64_t stopped_ns = 0;  ///< since when it is stopped; 0: it isn't
        std::int64_t go_on_ns = 0;
        std::vector<std::uint64_t> asked;  ///< by a stopped one, of each device
    };

    void start(Worker& worker);
    /// @return false where it has ended by itself.
    bool look_after(Worker& worker);
    bool stop(Worker& worker);
    void note_stop(Worker& worker);
    bool kill_it(Worker& worker);

    const Plan& plan_;
    Journal journal_;
    Chance chance_;
    std::vector<Worker> workers_;
    unsigned started_ = 0;
};

}  // namespace programs::fire
