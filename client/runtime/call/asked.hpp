#pragma once

#include "client/runtime/call/invocation.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// A container's request: the variables and annotations that name GPU resources, or look as if they should.
/// Empty: it requests nothing and isn't managed. An annotation wins over a variable of the same name. Error
/// (refused): a value that can't be read.
[[nodiscard]] Result<Variables> asked_by(const OciBundle& bundle);

/// Whether this call creates a container that requests a part of a GPU. Error: its bundle, or its request,
/// can't be read.
[[nodiscard]] Result<bool> is_asked_for(const Invocation& invocation);

}  // namespace cgpu::runtime
