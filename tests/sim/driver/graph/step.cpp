#include "tests/sim/driver/graph/step.hpp"

#include "tests/sim/driver/module/module.hpp"

namespace simgpu {

namespace {

struct TypeOf {
    CUgraphNodeType operator()(const KernelStep&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const CopyStep&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const Fill&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostStep&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const ChildStep&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const EmptyStep&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const WaitEventStep&) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const RecordEventStep&) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const AllocateStep&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const FreeStep&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const MemoryOperationsStep&) const { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
};

}  // namespace

bool Shape::valid() const {
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    return grid[0] && grid[1] && grid[2] && threads > 0 && threads <= 1024;
}

std::vector<void*> KernelStep::pointers() const {
    std::vector<void*> all;
    for (const KernelParameter& parameter : function->kernel.parameters) {
        all.push_back(const_cast<std::byte*>(parameters.data()) + parameter.offset);
    }
    return all;
}

CUgraphNodeType type_of(const Step& step) { return std::visit(TypeOf{}, step); }

}  // namespace simgpu
