#pragma once

#include <cstdint>
#include <span>

#include <nlohmann/json_fwd.hpp>

namespace cgpu::store {

/// The version of state.json that this cgpud writes. Every change of the format needs a new version with a
/// Migration to it. The versions brought:
///   1  GPUs and instances
///   2  upgrade: the version of the module in force, and the job
///   3  upgrade.mode: the mode that the node was switched to
///   4  percent of a quota: its weight was asked for as a percentage
///   5  owner of an instance; kept: what is kept for the next starts of instances
///   6  default_memory: that it was set
///   7  admitted of a quota; until_reboot, also of the mode; configured and until_reboot of a job
///   8  image of an instance
///   9  by_hand of a GPU: which of its settings were set by a person; policy 6, proportional
constexpr std::uint64_t kStateVersion = 9;

/// The step that turns a document of version `from` into one of version `from` + 1.
struct Migration {
    std::uint64_t from;
    void (*step)(nlohmann::json& document);
};

/// All steps up to kStateVersion.
[[nodiscard]] std::span<const Migration> migrations();

/// Migrates the document step by step from its version to `to` and writes that into it. False: a step is
/// missing.
[[nodiscard]] bool migrate(nlohmann::json& document, std::uint64_t from, std::uint64_t to,
                           std::span<const Migration> steps);

}  // namespace cgpu::store
