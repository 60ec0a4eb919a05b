#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/admission/defaults.hpp"
#include "core/model/gpu.hpp"
#include "core/request/unknown_name.hpp"

namespace cgpu::config {

/// What closed gates do once the daemon that closed them is gone.
enum class OnDaemonLoss : std::uint32_t {
    open,    ///< everyone computes, without division
    closed,  ///< who is closed stays so until a daemon is back
};

/// What is done about memory that an instance's process took past the module.
enum class OnEscape : std::uint32_t {
    report,  ///< the log and the figures tell
    refuse,  ///< and the instance is granted nothing while it lasts
    kill,    ///< and the process gets SIGKILL
};

/// The settings of a GPU that are given; the others stay as they were.
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
    /// For GPUs that are seen for the first time; what is set later by cgpuctl is kept in the state instead.
    model::GpuSettings gpu_defaults;
    std::map<std::uint32_t, GpuPatch> gpus_by_index;
    std::map<model::Uuid, GpuPatch> gpus_by_uuid;
    admission::Defaults admission;
    request::UnknownNames unknown_variables = request::UnknownNames::refuse;
    std::uint32_t slice_ms = 5;  ///< the length of one slice of a GPU's period
    OnDaemonLoss on_daemon_loss = OnDaemonLoss::open;
    std::uint32_t lease_chunk_mib = 32;        ///< what a process is leased at a time, at least
    std::uint32_t context_estimate_mib = 256;  ///< booked for a CUDA context before its size has been seen
    OnEscape on_escape = OnEscape::report;
    std::uint32_t escape_gap_mib = 64;  ///< what a process may have more than the module can explain
    std::string log_level = "info";
    std::filesystem::path state_dir = "/var/lib/cgpu";
    std::filesystem::path runtime_dir = "/run/cgpu";
    std::filesystem::path module_dir = "/usr/lib/cgpu/module";

    /// What a GPU gets that is seen for the first time: the defaults, over them what is given for its index,
    /// over that what is given for its UUID.
    [[nodiscard]] model::GpuSettings settings_for(const model::SeenGpu& gpu) const;

    friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace cgpu::config
