#pragma once

#include <functional>
#include <string>

#include "client/node/node.hpp"
#include "client/runtime/call/invocation.hpp"
#include "client/runtime/hooks/container_state.hpp"
#include "client/runtime/oci/own_hook.hpp"

namespace cgpu::runtime {

/// cgpud's rule for containers that get GPUs and ask for no part of one, unless it is to let them start: then
/// this file isn't there. It counts while cgpud can't be asked.
constexpr const char* kUnmanagedRule = "/run/cgpu/unmanaged";

/// If the container gets GPUs without a request: tells the node, and adds the hook that tells it the first
/// process. Without an answer of the node the container starts as it would without cgpu, unless `rule`
/// exists. If the next runtime may bring in other GPUs, adds the hook of add_check_hook(), too. Error
/// (refused): the node's configuration refuses it, or the GPUs aren't free; other errors only if `rule`
/// exists.
[[nodiscard]] Result<void> take_in_unmanaged(OciBundle& bundle, const Invocation& invocation,
                                             const std::string& program, client::Node& node,
                                             const std::string& rule = kUnmanagedRule);

/// createRuntime, by the hook of add_check_hook(): if the container has more GPUs than the node knows of,
/// tells the node, and its first process. Errors are those of take_in_unmanaged() and gpus_beyond(); also
/// (refused): it has booked its GPUs, and gets others.
[[nodiscard]] Result<void> take_in_found(const ContainerState& container, const KnownGpus& known,
                                         client::Node& node, const std::string& rule = kUnmanagedRule);

}  // namespace cgpu::runtime
