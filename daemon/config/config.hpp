#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/admission/defaults.hpp"
#include "core/admission/unmanaged.hpp"
#include "core/ends/course.hpp"
#include "core/limits/rules.hpp"
#include "core/model/gpu.hpp"
#include "core/request/profile.hpp"
#include "core/request/unknown_name.hpp"

namespace cgpu::config {

/// What closed gates do when the daemon that closed them is gone.
enum class OnDaemonLoss : std::uint32_t {
    open,    ///< all instances compute, undivided
    closed,  ///< closed gates stay closed until a daemon is back
};

/// What is done about memory that an instance's process took without the module.
enum class OnEscape : std::uint32_t {
    report,  ///< it is logged, and shown in the figures
    refuse,  ///< also, the instance is granted nothing while it lasts
    kill,    ///< also, the process gets SIGKILL
};

/// What is done about compute that an instance's processes don't report.
enum class OnComputeEscape : std::uint32_t {
    report,  ///< it is logged, and shown in the figures
};

/// The configured settings of a GPU; the others are unchanged.
struct GpuPatch {
    std::optional<model::Policy> policy;
    std::optional<std::uint32_t> max_inst;
    std::optional<std::uint32_t> prio_ratio;
    std::optional<model::Mode> mode;

    void apply_to(model::GpuSettings& settings) const;
    friend bool operator==(const GpuPatch&, const GpuPatch&) = default;
};

/// What cgpud reads from its files and command line, checked. The defaults here are those of etc/cgpud.yaml.
struct Config {
    /// For GPUs that are seen for the first time; later changes by cgpuctl are kept in the state.
    model::GpuSettings gpu_defaults;
    std::map<std::uint32_t, GpuPatch> gpus_by_index;
    std::map<model::Uuid, GpuPatch> gpus_by_uuid;
    admission::Defaults admission;
    request::Profiles profiles;
    limits::Rules limits;  ///< what owners may have at most
    request::UnknownNames unknown_variables = request::UnknownNames::refuse;
    admission::Unmanaged unmanaged = admission::Unmanaged::allow;
    std::optional<std::uint64_t> time;  ///< of instances that ask for none, in seconds; empty: no limit
    std::optional<std::uint64_t> idle;  ///< the same without work
    ends::Settings ends;
    bool fair = false;  ///< of those that wait, whose owner had least lately comes first
    model::Nanos fair_half_life = std::int64_t{24} * 3600 * model::kSecond;
    std::uint32_t slice_ms = 5;  ///< the length of one slice of a GPU's period
    OnDaemonLoss on_daemon_loss = OnDaemonLoss::open;
    std::uint32_t lease_chunk_mib = 32;        ///< the least that a process is leased at a time
    std::uint32_t context_estimate_mib = 256;  ///< set aside for a CUDA context before one was measured
    OnEscape on_escape = OnEscape::report;
    OnComputeEscape on_compute_escape = OnComputeEscape::report;
    std::uint32_t escape_gap_mib = 64;      ///< unexplained memory of a process that is not reported
    std::uint32_t history_mib = 32;         ///< of the file that keeps who had the GPUs; 0: none is kept
    std::uint32_t history_interval_s = 60;  ///< what one record of it is of
    std::string log_level = "info";
    std::filesystem::path state_dir = "/var/lib/cgpu";
    std::filesystem::path runtime_dir = "/run/cgpu";
    std::filesystem::path module_dir = "/usr/lib/cgpu/module";

    /// The settings of a GPU that is seen for the first time: the defaults, overridden by those for its
    /// index, overridden by those for its UUID.
    [[nodiscard]] model::GpuSettings settings_for(const model::SeenGpu& gpu) const;

    friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace cgpu::config
