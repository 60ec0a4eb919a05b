#pragma once

#include <optional>

#include "tests/sim/driver/module/kernel.hpp"
#include "tests/sim/driver/stream/operation.hpp"

namespace simgpu {

class Context;

/// Reads a launch's parameters. @return what to submit; nothing if the parameters cannot be read.
/// Context-wide state that the launch needs is taken here and released when the process has seen the kernel's
/// end.
std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra);

}  // namespace simgpu
