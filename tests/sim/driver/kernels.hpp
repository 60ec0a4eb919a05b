#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/driver/abi.hpp"
#include "tests/sim/driver/queue.hpp"

namespace simgpu {

class Context;

constexpr std::uint64_t kThreadsPerMultiprocessor = 2048;  ///< Of each simulated GPU.

/// A parameter of a known kernel: where it lies in a packed parameter buffer.
struct KernelParameter {
    std::size_t offset;
    std::size_t size;
};

struct Kernel {
    enum class Kind { busy, rendezvous, group_rendezvous, fill, vector_add, wait_for_flag, set_flag };
    Kind kind;
    const char* name;
    std::vector<KernelParameter> parameters;
};

/// Finds a kernel by its name, plain or as an Itanium-mangled function ("_Z4busym"). @return nullptr:
/// unknown.
const Kernel* find_kernel(const std::string& name);

/// Reads a launch's parameters. @return what to submit; nothing if the parameters can't be read.
/// Context-wide state that the launch needs is taken here and given back when the kernel has been seen to
/// end.
std::optional<Operation> kernel_operation(const Kernel& kernel, Context& context, void** parameters,
                                          void** extra);

/// The launch's parameters as they are now, each at its offset. @return nothing if they can't be read.
std::optional<std::vector<std::byte>> pack_parameters(const Kernel& kernel, void** parameters, void** extra);

}  // namespace simgpu
