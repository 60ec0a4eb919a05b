#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::system {

/// Looks for the oldest process that has a folder of the host mounted: reads /proc/PID/mountinfo of all
/// processes, a hundred in a turn of the loop. If there is no descriptor to read with, it tries again later.
/// A process that ended before it was examined may have left a child that came after the list was made (as
/// programs that go to the background do): then the processes that are new since are examined, too, in at
/// most kMostRounds rounds.
///
/// On a node with many jobs nearly each process has mounts of its own, and the text of all of them takes
/// milliseconds. Those of processes that are known to be other jobs' aren't read.
class MountSearch final : public app::Watch {
  public:
    /// Calls back once, after this has returned; never after this object's end. References outlive it.
    MountSearch(app::Loop& loop, app::Processes& processes, std::filesystem::path folder,
                std::vector<model::Process> others, app::FoundProcess call);
    ~MountSearch() override = default;
    MountSearch(const MountSearch&) = delete;
    MountSearch& operator=(const MountSearch&) = delete;

    static constexpr int kMostRounds = 20;

  private:
    void begin_at(app::Nanos when);
    void list_pids();
    void look_at_new();
    void look_on();
    void look_at(std::int32_t pid);
    [[nodiscard]] bool mounted_for(std::int32_t pid);
    void learn_others_mounts();
    [[nodiscard]] std::string first_mount_seen(std::int32_t pid);

    app::Loop& loop_;
    app::Processes& processes_;
    std::filesystem::path folder_;
    std::vector<model::Process> others_;
    std::unordered_set<std::int32_t> others_pids_;
    bool others_known_ = false;  ///< what mounts they have, in this round
    app::FoundProcess call_;
    std::vector<std::int32_t> pids_;
    std::size_t next_ = 0;
    std::unordered_set<std::int32_t> examined_;  ///< in this round or before
    int rounds_ = 0;
    bool missed_ = false;  ///< a process of the list had ended when it was looked at
    /// By the id of the first mount that a process shows: most processes share their mounts with others, and
    /// such an id exists in one mount namespace only.
    std::map<std::string, bool> mounted_;
    std::optional<model::Process> first_;
    bool blind_ = false;  ///< it couldn't examine all processes, because no descriptor was left
    app::WatchPtr turn_;
};

}  // namespace cgpu::system
