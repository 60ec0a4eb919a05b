#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

/// A parameter of a known kernel: its offset and size in a packed parameter buffer.
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

/// Threads that a multiprocessor of each simulated GPU has at once.
constexpr std::uint64_t kThreadsPerMultiprocessor = 2048;

/// Finds a kernel by its name, plain or as an Itanium-mangled function ("_Z4busym"). @return nullptr:
/// unknown.
const Kernel* find_kernel(const std::string& name);

/// What a kernel of this name has of local memory, in bytes a thread: what "local_BYTES" says, else 0.
std::uint64_t local_bytes(const std::string& name);
/// By how much it makes all stacks of its context larger, in bytes a thread, as code that calls printf or
/// assert does: what "stacks_BYTES" says, else 0.
std::uint64_t stack_bytes(const std::string& name);

/// Reads the launch's parameters now, each at its offset. @return nothing if they cannot be read.
std::optional<std::vector<std::byte>> pack_parameters(const Kernel& kernel, void** parameters, void** extra);

/// Returns addresses of the parameters, for both ways of passing them to a launch.
std::vector<const void*> parameter_addresses(const Kernel& kernel, void** parameters, void** extra);

}  // namespace simgpu
