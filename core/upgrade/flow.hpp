#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/upgrade/events.hpp"
#include "core/upgrade/process_mover.hpp"

namespace cgpu::upgrade {

/// Moves the node from one version of the module to another, or from one mode to another. No clock, no
/// thread, no I/O.
///
/// Hot. stage: the job is saved, and new processes get the target. canary: one process changes to it. all:
/// all others do. commit: the target is saved as the version in force. Any failure on the way (a process
/// can't change, dies while it changes, or has not changed by the deadline; the disk) rolls the job back: new
/// processes get the old version, and all processes that changed or may still change are told to go back. The
/// job ends when they have, or at a deadline of its own. Then it reports which processes still run the other
/// version, and tells each of them to change when it reconnects (settle). A process that ends by itself is no
/// failure.
///
/// Cold. drain: no instance is admitted until the last one has ended; then the target is verified again and
/// saved.
///
/// Mode. drain: no instance is admitted until the last one that blocks the switch has ended; then the mode is
/// saved.
///
/// State is saved before any process is told. After a restart the daemon resumes from the saved state: a job
/// that was moving to the target continues (each process reports what it runs when it reconnects), and a job
/// that was rolling back continues to roll back.
class Flow {
  public:
    struct Settings {
        Nanos back_timeout = 10 * kSecond;
        Nanos busy_pause = 100 * kMilli;
        Nanos save_pause = kSecond;
        std::uint32_t switch_deadline_ms = 1000;  ///< how long a process tries before it answers busy
    };
    /// What users see of the job under way, or of the last one.
    struct Status {
        std::uint64_t id = 0;  ///< 0: there has been none
        Kind kind = Kind::hot;
        Setting from;
        Setting to;
        Step step = Step::ended;
        std::optional<Result> result;  ///< once it has ended
        std::size_t done = 0;          ///< processes (cold, mode: instances gone)
        std::size_t all = 0;
        std::string message;  ///< what it waits for, or what happened

        friend bool operator==(const Status&, const Status&) = default;
    };

    /// `in_force`: the version in force if the record has none.
    Flow(Record record, const Version& in_force, Settings settings);
    Flow(Record record, const Version& in_force) : Flow(std::move(record), in_force, Settings()) {}

    [[nodiscard]] Actions step(const Event& event, Nanos now);
    /// When to step with a Tick; empty: only when something happens.
    [[nodiscard]] std::optional<Nanos> wake(Nanos now) const;

    [[nodiscard]] const Version& in_force() const { return in_force_; }
    /// The version for a process that starts now.
    [[nodiscard]] const Version& for_new() const;
    [[nodiscard]] bool under_way() const { return job_.has_value(); }
    /// Whether the job can still be cancelled.
    [[nodiscard]] bool can_cancel() const;
    /// The mode that the node was switched to; empty: it never was.
    [[nodiscard]] std::optional<model::Mode> mode() const { return mode_; }
    /// Whether that mode holds until the reboot only.
    [[nodiscard]] bool mode_until_reboot() const { return mode_until_reboot_.has_value(); }
    /// Whether the job under way goes back to the configured mode.
    [[nodiscard]] bool to_configured() const { return job_ && job_->configured; }
    /// A cold job, or one of the mode, waits for instances to end: none is admitted.
    [[nodiscard]] bool draining() const { return job_ && step_ == Step::drain && !ending_; }
    [[nodiscard]] Status status() const;
    [[nodiscard]] const Roster& roster() const { return mover_.roster(); }

  private:
    /// How to continue when the save under way is done.
    enum class After { nothing, start, back, end };

    void on(const Start& start);
    void on(const StartMode& start);
    void on(const Resume& resume);
    void on(const Cancel&);
    void on(const Tick&) {}
    void on(const Saved& saved);
    void on(const Verified& verified);
    void on(const Known& known) { mover_.roster().known(known.who); }
    void on(const Connected& connected);
    void on(const Lost& lost) { mover_.roster().lost(lost.who, lost.front); }
    void on(const Gone& gone);
    void on(const Said& said);
    void on(const Instances& instances);

    void begin(Job job);
    void end_of_boot(const std::string& boot_id);
    void pump();
    void forward();
    void backward();
    void drain();
    [[nodiscard]] bool going() const { return job_ && (step_ == Step::canary || step_ == Step::all); }
    void turn_round(bool cancelled, const std::string& why);
    void finish(Result result, const std::string& message);
    void finish_back();
    void save(After after);
    void tell(bool bad, const std::string& text, Tell::About about = Tell::About::step) {
        actions_.emplace_back(Tell{bad, text, about});
    }
    // Of a hot or cold job.
    [[nodiscard]] const Version& from() const { return std::get<Version>(job_->from); }
    [[nodiscard]] const Version& to() const { return std::get<Version>(job_->to); }
    [[nodiscard]] std::string title() const;

    Settings settings_;
    Version in_force_;
    std::optional<model::Mode> mode_;
    std::optional<ModeUntilReboot> mode_until_reboot_;
    std::optional<Job> job_;
    std::optional<Ended> last_;
    std::optional<Ended> ending_;  ///< being saved
    Step step_ = Step::ended;
    After after_ = After::nothing;
    std::optional<Manifest> target_;
    bool verifying_ = false;
    Nanos save_again_ = 0;  ///< 0: not
    std::string save_trouble_;
    ProcessMover mover_;
    std::size_t instances_ = 0;
    std::size_t most_instances_ = 0;
    std::size_t done_at_end_ = 0;
    std::size_t all_at_end_ = 0;
    Nanos now_ = 0;
    Actions actions_;
};

}  // namespace cgpu::upgrade
