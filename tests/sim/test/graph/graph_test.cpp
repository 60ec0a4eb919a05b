// Graphs that are built node by node.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

TEST(Graph, AChainTakesItsKernelsTimeAtEachLaunch) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        std::vector<CUgraphNode> last;
        for (int i = 0; i < 10; ++i) last = {add_busy(graph, last, 1'000)};
        CUgraphExec exec = instantiate(graph);
        CUstream stream = new_stream();
        CUevent start = new_event();
        CUevent end = new_event();
        Gate gate;
        gate.hold(stream);
        REQUIRE_OK(cuEventRecord(start, stream));
        for (int i = 0; i < 3; ++i) REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuEventRecord(end, stream));
        gate.open();
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(microseconds_between(start, end), 30'000);
        REQUIRE_OK(cuGraphExecDestroy(exec));
        REQUIRE_OK(cuGraphDestroy(graph));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 30'000'000);
}

TEST(Graph, BranchesShareTheGpuAndAJoinWaitsForAll) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        const CUgraphNode root = add_busy(graph, {}, 1'000);
        std::vector<CUgraphNode> branches;
        branches.reserve(20);
        for (int i = 0; i < 20; ++i) branches.push_back(add_busy(graph, {root}, 200));
        add_busy(graph, branches, 1'000);
        CUgraphExec exec = instantiate(graph);
        CUstream stream = new_stream();
        CUevent start = new_event();
        CUevent end = new_event();
        Gate gate;
        gate.hold(stream);
        REQUIRE_OK(cuEventRecord(start, stream));
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuEventRecord(end, stream));
        gate.open();
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(std::lround(microseconds_between(start, end)), 6'000);
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_NEAR(static_cast<double>(device.use(pid).served), 6'000'000.0, 30.0);
}

TEST(Graph, DataGoesThroughCopiesMemsetsAndKernelsInTheOrderOfTheEdges) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        constexpr unsigned int kCount = 1000;
        const CUdeviceptr a = allocate(kCount * sizeof(float));
        const CUdeviceptr b = allocate(kCount * sizeof(float));
        const CUdeviceptr c = allocate(kCount * sizeof(float));
        std::vector<float> input(kCount, 5.0F);
        std::vector<float> output(kCount);
        CUgraph graph = new_graph();
        CUDA_MEMSET_NODE_PARAMS zero{a, 0, 0, 4, kCount, 1};
        CUgraphNode cleared = nullptr;
        REQUIRE_OK(cuGraphAddMemsetNode(&cleared, graph, nullptr, 0, &zero, nullptr));
        const CUgraphNode filled = add_fill(graph, {cleared}, a, 2.0F, kCount / 2);
        CUDA_MEMCPY3D in{};
        in.srcMemoryType = CU_MEMORYTYPE_HOST;
        in.srcHost = input.data();
        in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        in.dstDevice = b;
        in.WidthInBytes = kCount * sizeof(float);
        in.Height = in.Depth = 1;
        CUgraphNode copied_in = nullptr;
        REQUIRE_OK(cuGraphAddMemcpyNode(&copied_in, graph, nullptr, 0, &in, nullptr));
        const CUgraphNode summed = add_sum(graph, {filled, copied_in}, a, b, c, kCount);
        CUDA_MEMCPY3D out = in;
        out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        out.srcDevice = c;
        out.dstMemoryType = CU_MEMORYTYPE_HOST;
        out.dstHost = output.data();
        CUgraphNode copied_out = nullptr;
        REQUIRE_OK(cuGraphAddMemcpyNode(&copied_out, graph, &summed, 1, &out, nullptr));
        CUgraphExec exec = instantiate(graph);
        // The host's memory is read when the graph runs.
        input.assign(kCount, 7.0F);
        for (int i = 0; i < 2; ++i) REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_OK(cuStreamSynchronize(nullptr));
        for (unsigned int i = 0; i < kCount; ++i) REQUIRE_EQ(output[i], i < kCount / 2 ? 9 : 7);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Graph, HostFunctionsEventsAndChildrenKeepTheirPlace) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        static std::atomic<int> step{0};
        const CUevent before = new_event();
        const CUevent inside = new_event();
        CUgraph inner = new_graph();
        const CUgraphNode inner_first = add_busy(inner, {}, 2'000);
        CUgraphNode recorded = nullptr;
        REQUIRE_OK(cuGraphAddEventRecordNode(&recorded, inner, &inner_first, 1, inside));
        CUgraph graph = new_graph();
        CUDA_HOST_NODE_PARAMS first{[](void*) { REQUIRE_EQ(step.exchange(1), 0); }, nullptr};
        CUDA_HOST_NODE_PARAMS second{[](void*) { REQUIRE_EQ(step.exchange(2), 1); }, nullptr};
        CUgraphNode waited = nullptr;
        REQUIRE_OK(cuGraphAddEventWaitNode(&waited, graph, nullptr, 0, before));
        CUgraphNode began = nullptr;
        REQUIRE_OK(cuGraphAddHostNode(&began, graph, &waited, 1, &first));
        CUgraphNode nested = nullptr;
        REQUIRE_OK(cuGraphAddChildGraphNode(&nested, graph, &began, 1, inner));
        CUgraphNode joint = nullptr;
        REQUIRE_OK(cuGraphAddEmptyNode(&joint, graph, &nested, 1));
        CUgraphNode ended = nullptr;
        REQUIRE_OK(cuGraphAddHostNode(&ended, graph, &joint, 1, &second));
        REQUIRE_OK(cuGraphDestroy(inner));  // the node has a copy
        CUgraphExec exec = instantiate(graph);
        CUstream other = new_stream();
        CUstream stream = new_stream();
        launch_busy(other, 10'000);
        REQUIRE_OK(cuEventRecord(before, other));
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(step.load(), 2);
        REQUIRE_EQ(microseconds_between(before, inside) >= 2'000, true);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Graph, LaunchesOfOneExecutableFollowEachOtherOnDifferentStreams) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        add_busy(graph, {}, 3'000);
        CUgraphExec exec = instantiate(graph);
        CUstream first = new_stream();
        CUstream second = new_stream();
        const CUevent start = new_event();
        const CUevent end = new_event();
        Gate gate;
        gate.hold(first);
        REQUIRE_OK(cuEventRecord(start, first));
        REQUIRE_OK(cuGraphLaunch(exec, first));
        REQUIRE_OK(cuGraphLaunch(exec, second));
        REQUIRE_OK(cuEventRecord(end, second));
        gate.open();
        REQUIRE_OK(cuStreamSynchronize(second));
        REQUIRE_EQ(microseconds_between(start, end), 6'000);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Graph, AGraphIsPartOfItsStreamForTheLegacyDefaultStream) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        constexpr unsigned int kCount = 100;
        const CUdeviceptr a = allocate(kCount * sizeof(float));
        const CUdeviceptr b = allocate(kCount * sizeof(float));
        CUgraph graph = new_graph();
        const CUgraphNode slow = add_busy(graph, {}, 5'000);
        add_fill(graph, {slow}, a, 3.0F, kCount);
        const CUgraphNode other = add_busy(graph, {}, 5'000);
        add_fill(graph, {other}, b, 4.0F, kCount);
        CUgraphExec exec = instantiate(graph);
        REQUIRE_OK(cuGraphLaunch(exec, new_stream(CU_STREAM_DEFAULT)));
        REQUIRE_EQ(read_floats(a, kCount)[kCount - 1], 3);
        REQUIRE_EQ(read_floats(b, kCount)[kCount - 1], 4);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Graph, SpansTwoGpus) {
    TestDevice device(2);
    Child child([](const Child::Line&) {
        use_device(1);
        CUgraph graph = new_graph();
        const CUgraphNode there = add_busy(graph, {}, 4'000);
        use_device(0);
        add_busy(graph, {there}, 1'000);
        CUgraphExec exec = instantiate(graph);
        const CUevent end = new_event();
        REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_OK(cuEventRecord(end, nullptr));
        REQUIRE_OK(cuEventSynchronize(end));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid, 0).served, 1'000'000);
    EXPECT_EQ(device.use(pid, 1).served, 4'000'000);
}

}  // namespace
}  // namespace simgpu::test
