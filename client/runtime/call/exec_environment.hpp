#pragma once

#include <string>

#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// Engines give a process that is executed in a container (docker exec) the variables of their own record of
/// the container, which has the request and not the grant. If the call executes one in a managed container,
/// this puts the variables of the grant, as they are in the container's config.json, into the process's
/// description (the file of --process). A CUDA_VISIBLE_DEVICES that is there stays, as in the container's
/// first process.
///
/// The container's config.json is found by the state that the low-level runtime keeps below the folder of
/// --root, or below its default; runc's and crun's are known. If anything can't be read, nothing is changed:
/// the limits don't depend on variables. Returns whether the file was changed.
bool grant_to_executed(const Invocation& invocation);

}  // namespace cgpu::runtime
