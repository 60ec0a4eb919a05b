#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/upgrade/flow.hpp"
#include "tests/unit/core/upgrade/versions.hpp"

namespace cgpu::upgrade::test {

constexpr Nanos kMs = 1'000'000;
constexpr Nanos kSecond = 1000 * kMs;
inline const Version kOld{1, 0, 0};
inline const Version kNew{1, 1, 0};

/// A node in virtual time: processes that carry out orders while they run, a disk, and a daemon that can be
/// killed between any two of its actions. What really runs in each process is recorded here, beside the
/// flow's own view.
class World {
  public:
    enum class Mood { good, fails, fails_back, busy, dies };
    struct Process {
        Version runs;
        bool alive = true;
        bool stopped = false;
        Version front_version = kOld;
        Mood mood = Mood::good;
        bool connected = false;
        std::uint64_t front = 0;
        std::deque<Switch> told;          ///< in its socket, not read yet
        std::optional<Switch> under_way;  ///< of those that come meanwhile, the last is next
    };

    World() { boot(); }

    /// The pid of a new process: it runs the version that the daemon names, or waits for a daemon.
    std::int32_t start(Mood mood = Mood::good);
    void end(std::int32_t pid);
    void set_stopped(std::int32_t pid, bool stopped) { processes.at(pid).stopped = stopped; }
    /// False: a job is under way, so it was refused.
    bool upgrade(Kind kind, const Version& to, Nanos timeout = 60 * kSecond);
    /// The same for a switch of the mode; every instance blocks it.
    bool switch_mode(model::Mode to, Nanos timeout = 60 * kSecond, bool configured = false,
                     bool until_reboot = false);
    void cancel() { happens(Cancel{}); }
    /// With the last instance all processes end; while a job drains, none is added.
    void set_instances(std::size_t count);
    /// Kills the daemon when it has done this many more actions (0: now), and starts the next one.
    void kill_after(int actions);
    void restart(bool reboot = false);
    /// Time passes; everything that can act does.
    void run(Nanos duration, Nanos step = 10 * kMs);

    [[nodiscard]] Flow& flow() { return *flow_; }
    [[nodiscard]] std::set<Version> running() const;
    [[nodiscard]] bool all_good() const;

    std::map<std::int32_t, Process> processes;
    bool disk_full = false;
    int configured_modes = 0;  ///< how often the GPUs were to take the modes that are configured for them
    bool file_bad = false;
    std::size_t instances = 1;
    Record disk;
    std::vector<Ended> over;
    std::vector<std::string> log;
    Nanos now = kSecond;
    Nanos booted = 0;  ///< when the daemon was started

  private:
    static Who who(std::int32_t pid);
    void boot();
    void happens(const Event& event);
    void carry_out(const Action& action, std::deque<Event>& next);
    void connect(std::int32_t pid);
    void act(std::int32_t pid);
    void carry_out_order(std::int32_t pid, const Switch& order);
    void say(std::int32_t pid, std::uint64_t request, wire::SwitchResult result);

    std::optional<Flow> flow_;
    int boots_ = 0;
    int actions_left_ = -1;  ///< until the daemon is killed; -1: it isn't
    bool killed_ = false;
    std::int32_t last_pid_ = 0;
    std::uint64_t last_front_ = 0;
};

}  // namespace cgpu::upgrade::test
