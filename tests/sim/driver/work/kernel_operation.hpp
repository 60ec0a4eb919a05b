#pragma once

#include <optional>

#include "tests/sim/driver/module/kernel.hpp"
#include "tests/sim/driver/stream/operation.hpp"

namespace simgpu {

class Context;

/// Reads a launch's parameters. @return what to submit; nothing if the parameters can't be read.
/// Context-wide state that the launch needs is taken here and given back when the kernel has been seen to
/// end.
std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra);

}  // namespace simgpu
