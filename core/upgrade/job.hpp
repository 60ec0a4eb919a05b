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
    hot,   ///< running processes go over
    cold,  ///< while there is no instance
    mode,  ///< the node's mode, when no instance is isolated more than that (S1)
};
/// What a job changes: the version of the module, or the mode of instances that ask for none.
using Setting = std::variant<Version, model::Mode>;
enum class Result {
    done,
    failed,     ///< what was in force before is so again; the message says why
    cancelled,  ///< the same, because somebody wanted it
};
/// Where a job is.
enum class Step {
    stage,   ///< the job is being written down; nothing has been told to anyone
    canary,  ///< new processes get the target; one running process goes over
    all,     ///< all others do
    commit,  ///< all have; the target is being written down as the version in force
    back,    ///< whoever went over goes back
    drain,   ///< cold, mode: no new instances; those that are in the way are waited for
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

/// What of a job that is under way must outlive the daemon.
struct Job {
    std::uint64_t id = 0;
    Kind kind = Kind::hot;
    Setting from;
    Setting to;
    Nanos timeout = 0;
    Nanos deadline = 0;      ///< of going there, or of going back
    std::string boot_id;     ///< that the deadline counts in
    bool back = false;       ///< hot: it goes back, and never there again
    bool cancelled = false;  ///< that is why
    std::string why;         ///< it goes back: a sentence

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

/// What is saved of upgrades, before anyone is told.
struct Record {
    std::optional<Version>
        in_force;  ///< what all processes run while there is no job; nothing: never written
    std::optional<model::Mode> mode;  ///< that the node was switched to; nothing: the configuration's
    std::optional<Job> job;
    std::optional<Ended> last;

    friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace cgpu::upgrade
