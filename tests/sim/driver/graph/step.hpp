#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/graph/transfer.hpp"

namespace simgpu {

class Event;
struct Function;
class Graph;
class GraphAllocation;

struct Shape {
    unsigned int grid[3];
    unsigned int block[3];

    bool valid() const;
    std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
};

// The work of a node of a graph. A stream that is captured gets these instead of operations.

struct KernelStep {
    Function* function;
    Shape shape;
    unsigned int shared_bytes;
    bool cooperative;
    int priority;
    std::vector<std::byte> parameters;  ///< Each at its offset.

    /// Pointers to the parameters, as a launch takes them. They are valid while the step is not moved.
    std::vector<void*> pointers() const;
};

struct CopyStep {
    CUDA_MEMCPY3D copy;
};

struct HostStep {
    CUhostFn function;
    void* data;
};

struct ChildStep {
    std::shared_ptr<Graph> graph;
};

struct EmptyStep {};

struct WaitEventStep {
    Event* event;
};

struct RecordEventStep {
    Event* event;
};

struct AllocateStep {
    std::shared_ptr<GraphAllocation> allocation;
    CUDA_MEM_ALLOC_NODE_PARAMS asked;
};

struct FreeStep {
    std::uint64_t address;
};

struct MemoryOperationsStep {
    std::vector<CUstreamBatchMemOpParams> operations;
};

using Step = std::variant<KernelStep, CopyStep, Fill, HostStep, ChildStep, EmptyStep, WaitEventStep,
                          RecordEventStep, AllocateStep, FreeStep, MemoryOperationsStep>;

CUgraphNodeType type_of(const Step& step);

}  // namespace simgpu
