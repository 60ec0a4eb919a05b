#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "daemon/app/instances/service.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/trace/traces.hpp"
#include "daemon/app/upgrade/upgrader.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The a{sv} argument at the end of every method that changes something.
using OptionMap = std::map<std::string, sdbus::Variant>;

/// The options of a method besides `dry-run` and `if-generation`, which all have but those that begin jobs.
struct Known {
    bool force = false;
    bool persist = false;
    bool runtime = false;
};

/// Refused (invalid), by name: an unknown key, or a value of the wrong type.
[[nodiscard]] app::Result<app::Options> read_options(const OptionMap& given, Known known = {});

/// The same options (of a change, or of a job) with the caller.
template <class All>
[[nodiscard]] All by(const app::Who& who, All options) {
    options.by = who;
    return options;
}

/// The options of CreateInstance: those of every change, image (s), user (u), reserve (s, a token) and hold
/// (t, seconds).
struct CreateOptions {
    app::Options options;
    app::Origin origin;
    std::optional<app::Hold> hold;  ///< empty: no reservation is asked for
};
[[nodiscard]] app::Result<CreateOptions> read_create_options(const OptionMap& given);

/// The options of Forget: dry-run and owner (u, a user id).
struct ForgetOptions {
    app::Options options;
    std::optional<std::uint32_t> owner;
};
[[nodiscard]] app::Result<ForgetOptions> read_forget_options(const OptionMap& given);

/// Whether the call only asks whether the change could be made.
[[nodiscard]] bool is_dry_run(const OptionMap& given);

/// The options of StartTrace: seconds.
[[nodiscard]] app::Result<std::uint32_t> read_trace_seconds(const OptionMap& given);

/// The options of a job: dry-run, timeout, drain unless it is hot, and runtime if it is of the mode.
[[nodiscard]] app::Result<app::UpgradeOptions> read_job_options(const OptionMap& given, upgrade::Kind kind);

}  // namespace cgpu::bus
