#pragma once

#include <string>

#include "client/node/node.hpp"
#include "client/runtime/call/invocation.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// cgpud's rule for containers that get GPUs and ask for no part of one, unless it is to let them start: then
/// this file isn't there. It counts while cgpud can't be asked.
constexpr const char* kUnmanagedRule = "/run/cgpu/unmanaged";

/// If the container gets GPUs without a request: tells the node, and adds the hook that tells it the first
/// process. Without an answer of the node the container starts as it would without cgpu, unless `rule`
/// exists. Error (refused): the node's configuration refuses it, or the GPUs aren't free; other errors only
/// if `rule` exists.
[[nodiscard]] Result<void> take_in_unmanaged(OciBundle& bundle, const Invocation& invocation,
                                             const std::string& program, client::Node& node,
                                             const std::string& rule = kUnmanagedRule);

}  // namespace cgpu::runtime
