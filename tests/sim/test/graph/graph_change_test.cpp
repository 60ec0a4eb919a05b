// What graphs report about themselves, and how they and their executables are changed.
#include <gtest/gtest.h>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

TEST(Graph, TellsItsNodesAndEdges) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        const CUgraphNode a = add_busy(graph, {}, 1);
        const CUgraphNode b = add_busy(graph, {a}, 2);
        const CUgraphNode c = add_busy(graph, {}, 3);
        REQUIRE_OK(cuGraphAddDependencies(graph, &c, &b, nullptr, 1));
        REQUIRE_EQ(cuGraphAddDependencies(graph, &c, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
        std::size_t count = 0;
        REQUIRE_OK(cuGraphGetNodes(graph, nullptr, &count));
        REQUIRE_EQ(count, 3);
        CUgraphNode nodes[4] = {};
        count = 4;
        REQUIRE_OK(cuGraphGetRootNodes(graph, nodes, &count));
        REQUIRE_EQ(count, 2);
        REQUIRE_EQ(nodes[0] == a && nodes[1] == c && nodes[2] == nullptr, true);
        CUgraphNode from[2];
        CUgraphNode to[2];
        count = 2;
        REQUIRE_OK(cuGraphGetEdges(graph, from, to, nullptr, &count));
        REQUIRE_EQ(count, 2);
        REQUIRE_EQ(from[0] == a && from[1] == c && to[0] == b && to[1] == b, true);
        count = 4;
        REQUIRE_OK(cuGraphNodeGetDependentNodes(c, nodes, nullptr, &count));
        REQUIRE_EQ(count == 1 && nodes[0] == b, true);
        CUgraphNodeType type{};
        REQUIRE_OK(cuGraphNodeGetType(b, &type));
        REQUIRE_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
        CUDA_KERNEL_NODE_PARAMS params{};
        REQUIRE_OK(cuGraphKernelNodeGetParams(b, &params));
        REQUIRE_EQ(*static_cast<unsigned long long*>(params.kernelParams[0]), 2);
        CUgraph clone = nullptr;
        CUgraphNode in_clone = nullptr;
        REQUIRE_OK(cuGraphClone(&clone, graph));
        REQUIRE_OK(cuGraphNodeFindInClone(&in_clone, b, clone));
        REQUIRE_EQ(in_clone != b, true);
        REQUIRE_OK(cuGraphDestroyNode(b));
        REQUIRE_OK(cuGraphKernelNodeGetParams(in_clone, &params));
        REQUIRE_OK(cuGraphRemoveDependencies(clone, nullptr, nullptr, nullptr, 0));
        REQUIRE_OK(cuGraphAddDependencies(graph, &a, &c, nullptr, 1));
        REQUIRE_OK(cuGraphAddDependencies(graph, &c, &a, nullptr, 1));
        CUgraphExec exec = nullptr;
        REQUIRE_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);  // a cycle
        CUDA_GRAPH_INSTANTIATE_PARAMS how{};
        REQUIRE_EQ(cuGraphInstantiateWithParams(&exec, graph, &how), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Graph, AnExecutableTakesNewParametersAndUpdates) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        const CUgraphNode first = add_busy(graph, {}, 1'000);
        const CUgraphNode second = add_busy(graph, {first}, 1'000);
        CUgraphExec exec = instantiate(graph);
        const auto launch = [&exec] { REQUIRE_OK(cuGraphLaunch(exec, nullptr)); };
        launch();  // 2 ms
        CUDA_KERNEL_NODE_PARAMS params{};
        REQUIRE_OK(cuGraphKernelNodeGetParams(first, &params));
        unsigned long long longer = 5'000;
        void* parameters[] = {&longer};
        params.kernelParams = parameters;
        REQUIRE_OK(cuGraphExecKernelNodeSetParams(exec, first, &params));
        launch();  // 6 ms
        REQUIRE_OK(cuGraphNodeSetEnabled(exec, second, 0));
        launch();  // 5 ms
        REQUIRE_OK(cuGraphNodeSetEnabled(exec, second, 1));
        CUgraph changed = new_graph();
        add_busy(changed, {add_busy(changed, {}, 3'000)}, 4'000);
        CUgraphExecUpdateResultInfo info{};
        REQUIRE_OK(cuGraphExecUpdate(exec, changed, &info));
        launch();  // 7 ms
        REQUIRE_OK(cuCtxSynchronize());
        CUgraph flat = new_graph();
        add_busy(flat, {}, 1);
        const CUgraphNode unconnected = add_busy(flat, {}, 1);
        REQUIRE_EQ(cuGraphExecUpdate(exec, flat, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        REQUIRE_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
        REQUIRE_EQ(info.errorNode == unconnected, true);
        CUgraph other_kind = new_graph();
        const CUgraphNode kernel_node = add_busy(other_kind, {}, 1);
        CUgraphNode empty = nullptr;
        REQUIRE_OK(cuGraphAddEmptyNode(&empty, other_kind, &kernel_node, 1));
        REQUIRE_EQ(cuGraphExecUpdate(exec, other_kind, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        REQUIRE_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 20'000'000);
}

}  // namespace
}  // namespace simgpu::test
