#pragma once

#include "core/upgrade/events.hpp"

namespace cgpu::upgrade {

/// Moves running processes from one version of the engine to another: asks each front to
/// change, unless it is changing already or must not be asked now. It knows nothing of the job; the times
/// that it is given are the step's.
class ProcessMover {
  public:
    /// How long one that was busy is left alone, and how long a process waits for calm before it says so.
    ProcessMover(Nanos busy_pause, std::uint32_t switch_deadline_ms)
        : busy_pause_(busy_pause), switch_deadline_ms_(switch_deadline_ms) {}

    [[nodiscard]] const Roster& roster() const { return roster_; }
    [[nodiscard]] Roster& roster() { return roster_; }

    /// Answers to requests of an earlier daemon may still arrive; their numbers must not match ours.
    void resume(Nanos now) { next_request_ = static_cast<std::uint64_t>(now); }
    /// A sentence where the front can't do what it was asked for.
    std::optional<std::string> said(const Said& said, Nanos now) {
        return roster_.said(said, now + busy_pause_);
    }

    /// A sentence about a process that can't exchange its engine for that version, whose engine needs a front
    /// of `least_front`.
    [[nodiscard]] std::optional<std::string> who_cannot(const Version& to, const Version& least_front) const;
    /// Moves one process. Answers which, once it is there.
    std::optional<Who> move_first(const Version& to, Nanos now, Actions& actions);
    void move_all(const Version& to, Nanos now, Actions& actions);
    /// The way back: the same, and true while any is waited for that hasn't refused.
    bool move_back(const Version& from, Nanos now, Actions& actions);
    /// Whoever has refused may be asked again, and another may be the first.
    void start_anew();
    /// There is no job: tells processes that report a version other than the one in force to change to it,
    /// for example one that was stopped (SIGSTOP) while a job was rolled back, and later carried out its old
    /// order.
    void settle(const Version& in_force, Nanos now, Actions& actions);

    /// When one that was busy is asked again; nothing: there is none.
    [[nodiscard]] std::optional<Nanos> wake(Nanos now) const;

  private:
    void ask(const Who& who, std::uint64_t id, Front& front, const Version& to, Actions& actions);
    void bring(const Who& who, std::uint64_t id, Front& front, const Version& to, Nanos now,
               Actions& actions);

    Nanos busy_pause_;
    std::uint32_t switch_deadline_ms_;
    Roster roster_;
    std::optional<Who> first_;  ///< that goes over before all others
    std::uint64_t next_request_ = 0;
};

}  // namespace cgpu::upgrade
