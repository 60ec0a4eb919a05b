#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/fuzz/support/must.hpp"
#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::fuzz {

using app::Nanos;
constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr Nanos kMs = 1'000'000;

/// Four instances of three processes each on one GPU, and what they must have by everything that was granted
/// and given back. The processes may say anything, in whole granules as the link passes it on; the driver
/// shows what they really hold.
class LeaseWorld {
  public:
    static constexpr int kInstances = 4;
    static constexpr int kEach = 3;

    explicit LeaseWorld(const app::LeaseSettings& settings);

    // What a process may say or do. `pid`: 1 to kInstances * kEach.
    void enter(std::int32_t pid);
    void ask(std::int32_t pid, app::LeaseAsk::What what, std::uint64_t bytes, bool delivered);
    void give(std::int32_t pid, std::uint64_t bytes);
    void held(std::int32_t pid, std::uint64_t bytes);
    void say(std::int32_t pid, unsigned word, std::uint64_t bytes);
    void report(std::int32_t pid, std::uint64_t charged, std::uint64_t pooled, bool changing);
    void stop(std::int32_t pid, bool stopped);
    void exit(std::int32_t pid);
    // What others do.
    void show(std::int32_t pid, std::uint64_t bytes);
    void bury(std::int32_t pid);
    void set_limit(int instance, std::uint64_t bytes, bool force);
    void advance(Nanos by);
    void restart();

    /// What must hold at any time.
    void check();
    /// All processes end. Then nobody waits, and nothing is left.
    void end();

  private:
    struct Process {
        std::uint64_t lease = 0;
        bool entered = false;  ///< and connected
        bool dead = false;
        int waiting = 0;  ///< asks
    };
    struct Instance {
        std::uint64_t limit = 0;
        std::uint64_t highest_limit = 0;
        Nanos calm_since = 0;  ///< nothing but words since then: what is held has been shown all the time
    };

    [[nodiscard]] static int instance_of(std::int32_t pid) { return (pid - 1) / kEach; }
    [[nodiscard]] static model::Instance instance(int number, std::uint64_t limit);
    [[nodiscard]] static const app::PoolKey& pool(int number);
    [[nodiscard]] static app::LeaseKey key(std::int32_t pid) {
        return {pool(instance_of(pid)), {pid, 1, "boot"}};
    }
    [[nodiscard]] bool in_table(std::int32_t pid) const;
    [[nodiscard]] bool can_speak(std::int32_t pid) {
        return processes_[pid].entered && !processes_[pid].dead;
    }
    void forget(std::int32_t pid);
    void disturb(int number) { instances_[number].calm_since = bed_->loop.now(); }
    void begin(app::test::LeaseMemory table);
    void granted(std::int32_t pid, const app::LeaseAsk& ask, const app::LeaseAnswer& answer, bool delivered);
    void check_table();
    void check_instance(int number);
    void check_hidden(int number);
    void check_estimate();

    app::LeaseSettings settings_;
    std::unique_ptr<app::test::LeaseBed> bed_;
    std::map<std::int32_t, Process> processes_;
    std::map<int, Instance> instances_;
    std::set<int> made_contexts_;  ///< instances, since this daemon began
    std::uint64_t first_estimate_ = 0;
    int daemon_ = 0;  ///< tells answers of this one from those of an earlier one
};

}  // namespace cgpu::fuzz
