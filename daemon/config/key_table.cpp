#include "daemon/config/key_table.hpp"

#include <algorithm>
#include <array>

#include "core/model/duration.hpp"
#include "core/model/size.hpp"

namespace cgpu::config {
namespace {

constexpr std::uint32_t kMaxSliceMs = 100;
constexpr std::uint32_t kMaxChunkMib = 1024;
constexpr std::uint32_t kMaxEstimateMib = 4096;
constexpr std::uint32_t kMaxGapMib = 65536;
constexpr std::uint32_t kMaxHistoryMib = 4096;
constexpr std::uint32_t kMaxHistoryIntervalS = 3600;
constexpr std::uint64_t kLongestSpanS = 86400;
constexpr std::uint64_t kLongestHalfLifeS = std::uint64_t{365} * 86400;
constexpr std::array<std::string_view, 5> kLogLevels = {"trace", "debug", "info", "warning", "error"};

Taken take_number(std::uint32_t& into, std::string_view text, std::uint32_t low, std::uint32_t high) {
    return read_number(text, low, high).map([&](std::uint32_t value) { into = value; });
}

Taken take_folder(std::filesystem::path& into, std::string_view text) {
    if (!text.starts_with('/')) return tl::unexpected(std::string("it is not an absolute path"));
    if (text.find('\0') != std::string_view::npos) return tl::unexpected(std::string("it is not a path"));
    into = text;
    return {};
}

Taken take_policy(GpuPatch& patch, std::string_view text) {
    const auto policy = model::parse_policy(text);
    if (!policy) return tl::unexpected(std::string("it is not a policy"));
    patch.policy = *policy;
    return {};
}

Taken take_max_inst(GpuPatch& patch, std::string_view text) {
    return read_number(text, model::kMinMaxInst, model::kMaxMaxInst).map([&](auto value) {
        patch.max_inst = value;
    });
}

Taken take_prio_ratio(GpuPatch& patch, std::string_view text) {
    return read_number(text, model::kMinPrioRatio, model::kMaxPrioRatio).map([&](auto value) {
        patch.prio_ratio = value;
    });
}

Taken take_mode(GpuPatch& patch, std::string_view text) {
    return model::parse_mode(text).map([&](model::Mode mode) { patch.mode = mode; });
}

Taken take_default_memory(Config& config, std::string_view text) {
    const auto size = read_size(text);
    if (!size) return tl::unexpected(size.error());
    if (size->count() % model::Bytes::kPerMib != 0)
        return tl::unexpected(std::string("it is not a whole number of MiB"));
    config.admission.default_memory = *size;
    return {};
}

Taken take_default_weight(Config& config, std::string_view text) {
    return read_weight(text).map([&](auto value) { config.admission.default_weight = value; });
}

Taken take_placement(Config& config, std::string_view text) {
    return admission::parse_placement(text).map([&](auto value) { config.admission.placement = value; });
}

Taken take_no_weight(Config& config, std::string_view text) {
    return admission::parse_no_weight(text).map([&](auto value) { config.admission.no_weight = value; });
}

Taken take_unknown_variables(Config& config, std::string_view text) {
    return request::parse_unknown_names(text).map([&](auto value) { config.unknown_variables = value; });
}

Taken take_unmanaged(Config& config, std::string_view text) {
    return admission::parse_unmanaged(text).map([&](auto value) { config.unmanaged = value; });
}

Taken take_on_daemon_loss(Config& config, std::string_view text) {
    if (text != "open" && text != "closed")
        return tl::unexpected(std::string("it is neither open nor closed"));
    config.on_daemon_loss = text == "open" ? OnDaemonLoss::open : OnDaemonLoss::closed;
    return {};
}

Taken take_slice(Config& config, std::string_view text) {
    return take_number(config.slice_ms, text, 1, kMaxSliceMs);
}

Taken take_chunk(Config& config, std::string_view text) {
    const auto chunk = read_number(text, 2, kMaxChunkMib);
    if (!chunk) return tl::unexpected(chunk.error());
    if (*chunk % 2 != 0)
        return tl::unexpected(std::string("it is odd, and the driver hands memory out in pieces of 2MiB"));
    config.lease_chunk_mib = *chunk;
    return {};
}

Taken take_estimate(Config& config, std::string_view text) {
    return take_number(config.context_estimate_mib, text, 1, kMaxEstimateMib);
}

Taken take_on_escape(Config& config, std::string_view text) {
    if (text == "report")
        config.on_escape = OnEscape::report;
    else if (text == "refuse")
        config.on_escape = OnEscape::refuse;
    else if (text == "kill")
        config.on_escape = OnEscape::kill;
    else
        return tl::unexpected(std::string("it is none of report, refuse and kill"));
    return {};
}

Taken take_on_compute_escape(Config& config, std::string_view text) {
    if (text != "report") return tl::unexpected(std::string("it isn't report, the only value so far"));
    config.on_compute_escape = OnComputeEscape::report;
    return {};
}

Taken take_escape_gap(Config& config, std::string_view text) {
    return take_number(config.escape_gap_mib, text, 2, kMaxGapMib);
}

Taken take_history(Config& config, std::string_view text) {
    return take_number(config.history_mib, text, 0, kMaxHistoryMib);
}

Taken take_history_interval(Config& config, std::string_view text) {
    return take_number(config.history_interval_s, text, 1, kMaxHistoryIntervalS);
}

Taken take_duration(std::optional<std::uint64_t>& into, std::string_view text) {
    into.reset();
    if (text == "none") return {};
    return model::parse_duration(text).map([&](auto seconds) { into = seconds; });
}

std::string show_duration(const std::optional<std::uint64_t>& seconds) {
    return seconds ? model::exact_duration(*seconds) : std::string("none");
}

/// A day at most; `0s` is none.
Taken take_span(model::Nanos& into, std::string_view text) {
    if (text == "0s") {
        into = 0;
        return {};
    }
    const auto seconds = model::parse_duration(text);
    if (!seconds) return tl::unexpected(seconds.error());
    if (*seconds > kLongestSpanS) return tl::unexpected(std::string("it is longer than a day"));
    into = static_cast<model::Nanos>(*seconds) * model::kSecond;
    return {};
}

Taken take_fair(Config& config, std::string_view text) {
    if (text != "true" && text != "false") return tl::unexpected(std::string("it is neither true nor false"));
    config.fair = text == "true";
    return {};
}

Taken take_half_life(Config& config, std::string_view text) {
    const auto seconds = model::parse_duration(text);
    if (!seconds) return tl::unexpected(seconds.error());
    if (*seconds > kLongestHalfLifeS) return tl::unexpected(std::string("it is longer than a year"));
    config.fair_half_life = static_cast<model::Nanos>(*seconds) * model::kSecond;
    return {};
}

std::string show_span(model::Nanos span) {
    return model::exact_duration(static_cast<std::uint64_t>(span / model::kSecond));
}

Taken take_log_level(Config& config, std::string_view text) {
    if (std::find(kLogLevels.begin(), kLogLevels.end(), text) == kLogLevels.end())
        return tl::unexpected(std::string("it is not a level"));
    config.log_level = text;
    return {};
}

Taken take_state_dir(Config& config, std::string_view text) { return take_folder(config.state_dir, text); }
Taken take_runtime_dir(Config& config, std::string_view text) {
    return take_folder(config.runtime_dir, text);
}
Taken take_module_dir(Config& config, std::string_view text) { return take_folder(config.module_dir, text); }

std::string show_unknown_variables(const Config& config) {
    return config.unknown_variables == request::UnknownNames::refuse ? "refuse" : "warn";
}

std::string show_on_daemon_loss(const Config& config) {
    return config.on_daemon_loss == OnDaemonLoss::open ? "open" : "closed";
}

std::string show_on_escape(const Config& config) {
    switch (config.on_escape) {
        case OnEscape::report:
            return "report";
        case OnEscape::refuse:
            return "refuse";
        case OnEscape::kill:
            return "kill";
    }
    return "report";
}

template <auto Member>
std::string show_number(const Config& config) {
    return std::to_string(config.*Member);
}

template <auto Member>
std::string show_folder(const Config& config) {
    return (config.*Member).string();
}

std::string show_default_memory(const Config& config) {
    const auto bytes = config.admission.default_memory;
    return bytes.count() == 0 ? "0" : std::to_string(bytes.mib()) + "MiB";
}

const std::array kKeys = {
    Key{"default_memory", "a size such as 4GiB or 512MiB, or 0", take_default_memory, show_default_memory},
    Key{"default_weight", kWeightAllowed, take_default_weight,
        [](const Config& config) { return std::to_string(config.admission.default_weight); }},
    Key{"placement", "binpack or spread", take_placement,
        [](const Config& config) { return std::string(to_string(config.admission.placement)); }},
    Key{"no_weight", "warn or refuse", take_no_weight,
        [](const Config& config) { return std::string(to_string(config.admission.no_weight)); }},
    Key{"unknown_variables", "refuse or warn", take_unknown_variables, show_unknown_variables},
    Key{"unmanaged", "allow, whole or refuse", take_unmanaged,
        [](const Config& config) { return std::string(to_string(config.unmanaged)); }},
    Key{"time", "a duration such as 24h, or none",
        [](Config& config, std::string_view text) { return take_duration(config.time, text); },
        [](const Config& config) { return show_duration(config.time); }},
    Key{"idle", "a duration such as 30m, or none",
        [](Config& config, std::string_view text) { return take_duration(config.idle, text); },
        [](const Config& config) { return show_duration(config.idle); }},
    Key{"ends_soon", "a duration such as 10m, or 0s",
        [](Config& config, std::string_view text) { return take_span(config.ends.soon, text); },
        [](const Config& config) { return show_span(config.ends.soon); }},
    Key{"time_grace", "a duration such as 30s, or 0s",
        [](Config& config, std::string_view text) { return take_span(config.ends.grace, text); },
        [](const Config& config) { return show_span(config.ends.grace); }},
    Key{"fair", "true or false", take_fair,
        [](const Config& config) { return std::string(config.fair ? "true" : "false"); }},
    Key{"fair_half_life", "a duration such as 24h", take_half_life,
        [](const Config& config) { return show_span(config.fair_half_life); }, Applies::on_start},
    Key{"slice_ms", "a whole number from 1 to 100 (milliseconds)", take_slice, show_number<&Config::slice_ms>,
        Applies::on_start},
    Key{"on_daemon_loss", "open or closed", take_on_daemon_loss, show_on_daemon_loss, Applies::on_start},
    Key{"lease_chunk_mib", "an even number from 2 to 1024 (MiB)", take_chunk,
        show_number<&Config::lease_chunk_mib>, Applies::on_start},
    Key{"context_estimate_mib", "a whole number from 1 to 4096 (MiB)", take_estimate,
        show_number<&Config::context_estimate_mib>, Applies::on_start},
    Key{"on_escape", "report, refuse or kill", take_on_escape, show_on_escape, Applies::on_start},
    Key{"on_compute_escape", "report", take_on_compute_escape,
        [](const Config&) { return std::string("report"); }},
    Key{"escape_gap_mib", "a whole number from 2 to 65536 (MiB)", take_escape_gap,
        show_number<&Config::escape_gap_mib>, Applies::on_start},
    Key{"history_mib", "a whole number from 0 to 4096 (MiB; 0: no history)", take_history,
        show_number<&Config::history_mib>, Applies::on_start},
    Key{"history_interval_s", "a whole number from 1 to 3600 (seconds)", take_history_interval,
        show_number<&Config::history_interval_s>, Applies::on_start},
    Key{"log_level", "trace, debug, info, warning or error", take_log_level,
        [](const Config& config) { return config.log_level; }},
    Key{"state_dir", "an absolute path", take_state_dir, show_folder<&Config::state_dir>, Applies::on_start},
    Key{"runtime_dir", "an absolute path", take_runtime_dir, show_folder<&Config::runtime_dir>,
        Applies::on_start},
    Key{"module_dir", "an absolute path", take_module_dir, show_folder<&Config::module_dir>,
        Applies::on_start},
};

const std::array kGpuKeys = {
    GpuKey{"policy", "0 to 6, or fair-share, preemptive, weighted, fixed, soft, native or proportional",
           take_policy,
           [](const model::GpuSettings& settings) { return std::string(to_string(settings.policy)); }},
    GpuKey{"max_inst", "a whole number from 1 to 25", take_max_inst,
           [](const model::GpuSettings& settings) { return std::to_string(settings.max_inst); }},
    GpuKey{"prio_ratio", "a whole number from 20 to 99 (per cent)", take_prio_ratio,
           [](const model::GpuSettings& settings) { return std::to_string(settings.prio_ratio); }},
    GpuKey{"mode", "none, memory or memory+compute", take_mode,
           [](const model::GpuSettings& settings) { return std::string(to_string(settings.mode)); }},
};

}  // namespace

std::span<const Key> keys() { return kKeys; }
std::span<const GpuKey> gpu_keys() { return kGpuKeys; }

tl::expected<std::uint32_t, std::string> read_weight(std::string_view value) {
    return read_number(value, 1, model::kMaxMaxInst);
}

}  // namespace cgpu::config
