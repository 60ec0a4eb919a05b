#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// A change of a GPU's settings (`instance` is empty), or of what an instance may use on a GPU; what is empty
/// stays.
struct Change {
    std::string instance;  ///< id, unique prefix of an id, or name
    std::string gpu;  ///< any of its names; may be empty if the instance has one GPU only, and for all of
                      ///< them where the change only pauses or resumes
    std::optional<std::string> policy = std::nullopt;  ///< number or name
    std::optional<std::uint32_t> max_inst = std::nullopt;
    std::optional<std::uint32_t> prio_ratio = std::nullopt;  ///< per cent
    std::optional<bool> drained = std::nullopt;
    std::optional<std::uint64_t> memory_limit = std::nullopt;  ///< bytes
    std::optional<std::uint32_t> weight = std::nullopt;        ///< 0: pauses it
    std::optional<std::uint32_t> percent = std::nullopt;       ///< of the compute, instead of the weight
    std::optional<bool> high_priority = std::nullopt;
    std::optional<bool> paused = std::nullopt;
    /// Instead of the others: a GPU's settings become the configured ones, an instance's (`gpu` empty: on all
    /// of its GPUs) those that it was admitted with.
    bool revert = false;

    friend bool operator==(const Change&, const Change&) = default;
};

/// How settings are changed.
struct Making {
    bool dry_run = false;
    bool runtime = false;  ///< of GPUs and the node: until the machine is started again
    bool persist = false;  ///< of instances: also for the next starts of their names
    bool force = false;    ///< of instances: allow a memory limit below the current use
    std::optional<std::uint64_t> if_generation = std::nullopt;  ///< refused if the node has another one
};

/// Removes the number of the change from cgpud's refusal of several ones (`change 2: weight 4: …`). Returns
/// it, from 0; empty: the refusal is not of one of the `count` changes.
std::optional<std::size_t> take_change_number(ClientError& refusal, std::size_t count);

}  // namespace cgpu::client
