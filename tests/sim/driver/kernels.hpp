#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/driver/abi.hpp"
#include "tests/sim/driver/queue.hpp"

namespace simgpu {

class Context;

/// A parameter of a known kernel: where it lies in a packed parameter buffer.
struct KernelParameter {
    std::size_t offset;
    std::size_t size;
};

struct Kernel {
    enum class Kind { busy, rendezvous, fill, vector_add };
    Kind kind;
    const char* name;
    std::vector<KernelParameter> parameters;
};

/// Finds a kernel by its name, plain or as an Itanium-mangled function ("_Z4busym"). @return nullptr:
/// unknown.
const Kernel* find_kernel(const std::string& name);

/// Reads a launch's parameters. @return what to submit; nothing if the parameters can't be read.
std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra);

}  // namespace simgpu
