#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/admission/defaults.hpp"
#include "core/model/node.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::queue {

/// The least that a request takes of one GPU.
struct Need {
    model::Bytes memory;
    bool whole = false;  ///< nobody else may be on it
};

/// Where a request could ever be put, by admission's own answers.
struct Needs {
    bool managed = true;    ///< false: the node's default memory is none, and it waits for nothing
    std::size_t count = 1;  ///< of GPUs
    /// In the order of Node::gpus(). Empty: it can't be there, not even alone.
    std::vector<std::optional<Need>> on;
    std::optional<model::Mode> mode = std::nullopt;  ///< it must be this one; empty: that of its GPUs
    /// What it would get if nobody else was there. Empty: nothing, because too few GPUs that could take it
    /// are there and not drained.
    std::vector<model::Quota> alone;
    /// What its owner's limits object to, whatever others leave.
    std::optional<model::Objection> limit = std::nullopt;

    /// Only others keep it from starting.
    [[nodiscard]] bool fits_alone() const { return !alone.empty() && !limit; }
};

/// The node without its instances. GPUs stay lost and drained.
[[nodiscard]] model::Node cleared(const model::Node& node);

/// `allowance`: what its owner may still get; null: as much as there is.
[[nodiscard]] Needs needs_of(const model::Node& cleared, const Waiting& waiting, admission::Defaults defaults,
                             const limits::Allowance* allowance);

}  // namespace cgpu::queue
