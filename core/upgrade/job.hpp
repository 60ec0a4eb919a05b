#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/mode.hpp"
#include "core/model/nanos.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::upgrade {

using model::kMilli;
using model::kSecond;
using model::Nanos;

enum class Kind {
    hot,   ///< running processes change
    cold,  ///< while there is no instance
    mode,  ///< the node's mode, while no instance has stronger isolation than that
};
/// What a job changes: the version of the module, or the mode of instances that request none.
using Setting = std::variant<Version, model::Mode>;
enum class Result {
    done,
    failed,     ///< the former setting is in force again; the message says why
    cancelled,  ///< the same, because a user cancelled the job
};
/// The step of a job.
enum class Step {
    stage,   ///< the job is being saved; no process has been told
    canary,  ///< new processes get the target; one running process changes
    all,     ///< all others change
    commit,  ///< all have changed; the target is being saved as the version in force
    back,    ///< the processes that changed go back
    drain,   ///< cold, mode: no new instances; waits for those that block the job
    ended,
};
[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] std::string_view to_string(Result result);
[[nodiscard]] std::string_view to_string(Step step);
[[nodiscard]] std::string to_string(const Setting& setting);
/// `upgrade 3 (hot, 1.1.0 to 1.2.0)`, `switch 4 (mode, memory to none)`
[[nodiscard]] std::string title_of(std::uint64_t id, Kind kind, const Setting& from, const Setting& to);
[[nodiscard]] std::optional<Kind> parse_kind(std::string_view text);
[[nodiscard]] std::optional<Result> parse_result(std::string_view text);

/// The part of a job under way that must outlive the daemon.
struct Job {
    std::uint64_t id = 0;
    Kind kind = Kind::hot;
    Setting from;
    Setting to;
    Nanos timeout = 0;
    Nanos deadline = 0;      ///< of the way to the target, or of the way back
    std::string boot_id;     ///< of the boot whose clock the deadline uses
    bool back = false;       ///< hot: it is being rolled back, irrevocably
    bool cancelled = false;  ///< it is rolled back because it was cancelled
    std::string why;         ///< why it is rolled back: a sentence
    /// mode: `to` is what the configuration says, and the configuration's mode holds from then on.
    bool configured = false;
    bool until_reboot = false;  ///< mode: the former one holds again in the next boot

    friend bool operator==(const Job&, const Job&) = default;
};

/// How a job ended.
struct Ended {
    std::uint64_t id = 0;
    Kind kind = Kind::hot;
    Setting from;
    Setting to;
    Result result = Result::done;
    std::string message;  ///< what happened, in sentences

    friend bool operator==(const Ended&, const Ended&) = default;
};

/// A mode that was set until the reboot.
struct ModeUntilReboot {
    std::string boot_id;              ///< of the boot that it holds in
    std::optional<model::Mode> then;  ///< what holds again afterwards; nothing: the configuration's

    friend bool operator==(const ModeUntilReboot&, const ModeUntilReboot&) = default;
};

/// The part of upgrades that is saved, before any process is told.
struct Record {
    std::optional<Version>
        in_force;  ///< what all processes run while there is no job; nothing: never written
    std::optional<model::Mode> mode;  ///< that the node was switched to; nothing: the configuration's
    std::optional<Job> job;
    std::optional<Ended> last;
    std::optional<ModeUntilReboot> mode_until_reboot = std::nullopt;

    friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace cgpu::upgrade
