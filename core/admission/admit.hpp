#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/admission/defaults.hpp"
#include "core/model/node.hpp"
#include "core/request/request.hpp"

namespace cgpu::admission {

/// What a request gets.
struct Grant {
    model::Mode mode = model::Mode::memory_compute;
    std::vector<model::Quota> quotas;   ///< in the order in which the container sees the GPUs
    std::vector<std::string> warnings;  ///< for the log and the user, each a full sentence

    /// False: the container wants the node's default memory and that is zero, so it runs unmanaged (cGPU's
    /// contract).
    [[nodiscard]] bool managed() const { return !quotas.empty(); }
};

/// Decides what a request gets: all of it or nothing. Nothing is changed: Node::add_instance of the same node
/// then accepts an instance with the grant's mode and quotas. The Refusal says what was asked, what is free,
/// on which GPU, and what to change.
[[nodiscard]] tl::expected<Grant, model::Refusal> admit(const model::Node& node,
                                                        const request::Request& request,
                                                        const Defaults& defaults);

}  // namespace cgpu::admission
