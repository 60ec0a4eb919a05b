#pragma once

#include "client/runtime/call/invocation.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// What a container asks the daemon for: the variables and annotations that name GPU resources, or look as if
/// they were to. Empty: it asks for nothing and isn't managed. An annotation wins over a variable of the same
/// name. Error (refused): a value that can't be read.
[[nodiscard]] Result<Variables> asked_by(const OciBundle& bundle);

/// Whether this call makes a container that asks for a part of a GPU. Error: its bundle, or what it asks for,
/// can't be read.
[[nodiscard]] Result<bool> is_asked_for(const Invocation& invocation);

}  // namespace cgpu::runtime
