#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "core/upgrade/job.hpp"
#include "core/upgrade/manifest.hpp"
#include "core/upgrade/roster.hpp"

/// What goes into Flow and what comes out.
namespace cgpu::upgrade {

// Events.
/// A job is wanted; the caller has checked it (objections.hpp).
struct Start {
    Kind kind;
    Manifest to;
    Nanos timeout;
    std::string boot_id;
};
/// The node is to change to another mode; `from` is the mode before, set by a switch or by the configuration.
struct StartMode {
    model::Mode from;
    model::Mode to;
    Nanos timeout;
    std::string boot_id;
    bool configured = false;    ///< see Job
    bool until_reboot = false;  ///< see Job
};
/// The daemon has started, and knows which processes and instances are alive. Comes once, before all others.
struct Resume {
    std::string boot_id;
};
struct Cancel {};
struct Tick {};
/// The answer to Save; empty: the record is on disk.
struct Saved {
    std::string trouble;
};
/// The answer to Verify; an error is a sentence.
struct Verified {
    tl::expected<Manifest, std::string> manifest;
};
struct Known {
    Who who;
};
struct Connected {
    Who who;
    std::uint64_t front;
    Version version;
};
struct Lost {
    Who who;
    std::uint64_t front;
};
struct Gone {
    Who who;
};
/// How many instances block the job under way, or the one that starts next.
struct Instances {
    std::size_t count;
};
using Event = std::variant<Start, StartMode, Resume, Cancel, Tick, Saved, Verified, Known, Connected, Lost,
                           Gone, Said, Instances>;

// Actions, in the order in which they must be done.
struct Save {
    Record record;
    /// Before this record, the modes that are configured for the GPUs must be put in force, which has no
    /// effect while the node is switched to a mode. If that fails, the save has.
    bool configured_modes_first = false;
};
struct Verify {
    Version version;
};
struct Switch {
    Who who;
    std::uint64_t front;
    std::uint64_t request;
    Version to;
    std::uint32_t deadline_ms;
};
/// A job has ended, and that is on disk.
struct Over {
    Ended ended;
};
/// A line for the log.
struct Tell {
    enum class About {
        step,   ///< something on the way
        begin,  ///< a job has begun
        back,   ///< it goes back
        end,    ///< it has ended
        boot,   ///< what was set until the reboot has ended
    };
    bool bad;
    std::string text;
    About about = About::step;
    bool done = false;  ///< end: with the result done
};
using Action = std::variant<Save, Verify, Switch, Over, Tell>;
using Actions = std::vector<Action>;

}  // namespace cgpu::upgrade
