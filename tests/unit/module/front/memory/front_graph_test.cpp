// Memory of graphs: taken at the first launch, kept, released when it is trimmed.
#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

class FrontGraph : public Front {
  protected:
    /// An executable graph with one allocation.
    void* graph_of(std::uint64_t bytes) const {
        void* graph = nullptr;
        behind<int(void**, std::uint64_t)>("fake_graph")(&graph, 0);
        cgpu::front::CUmemAllocNodeParams what{};
        what.pool.location = {1, 0};
        what.bytes = bytes;
        void* node = nullptr;
        EXPECT_EQ((call<int(void**, void*, void**, std::size_t, void*)>("cuGraphAddMemAllocNode")(
                      &node, graph, nullptr, 0, &what)),
                  0);
        void* executable = nullptr;
        EXPECT_EQ((call<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable,
                                                                                               graph, 0)),
                  0);
        return executable;
    }
    int launch_graph(void* executable) const {
        return call<int(void*, void*)>("cuGraphLaunch")(executable, nullptr);
    }
    int trim() const { return call<int(int)>("cuDeviceGraphMemTrim")(0); }
};

TEST_F(FrontGraph, IsChargedAtTheFirstLaunchAndUpToTheLimit) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    void* first = graph_of(60 * kMiB);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    ASSERT_EQ(launch_graph(first), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 60 * kMiB; }));
    // Launched again it has its memory, although there is no room for it a second time.
    EXPECT_EQ(launch_graph(first), 0);
    EXPECT_EQ(heap_bytes(), 60 * kMiB);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(40 * kMiB, &address), 0);
    EXPECT_EQ(heap_bytes(), 100 * kMiB);
}

TEST_F(FrontGraph, ANodeOfTheNewestFormIsChargedToo) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    void* graph = nullptr;
    behind<int(void**, std::uint64_t)>("fake_graph")(&graph, 0);
    cgpu::front::CUgraphNodeParams what{};
    what.type = 10;  // CU_GRAPH_NODE_TYPE_MEM_ALLOC
    what.alloc.pool.location = {1, 0};
    what.alloc.bytes = 101 * kMiB;
    void* node = nullptr;
    ASSERT_EQ((call<int(void**, void*, void**, const void*, std::size_t, void*)>("cuGraphAddNode_v3")(
                  &node, graph, nullptr, nullptr, 0, &what)),
              0);
    void* executable = nullptr;
    ASSERT_EQ(
        (call<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0)),
        0);
    EXPECT_EQ(launch_graph(executable), kOutOfMemory);
}

TEST_F(FrontGraph, OneThatIsTooLargeIsRefusedAlone) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    EXPECT_EQ(launch_graph(graph_of(101 * kMiB)), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == 1; }));
    EXPECT_EQ(heap_bytes(), 0u);
    EXPECT_EQ(launch_graph(graph_of(100 * kMiB)), 0);
    EXPECT_EQ(heap_bytes(), 100 * kMiB);
}

TEST_F(FrontGraph, WhatIsTrimmedComesBackAndIsTakenAnew) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    void* graph = graph_of(100 * kMiB);
    ASSERT_EQ(launch_graph(graph), 0);
    ASSERT_EQ(trim(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(2 * kMiB, &address), 0);
    EXPECT_EQ(launch_graph(graph), kOutOfMemory);
    ASSERT_EQ(free(address), 0);
    EXPECT_EQ(launch_graph(graph), 0);
    EXPECT_EQ(heap_bytes(), 100 * kMiB);
}

TEST_F(FrontGraph, WhatGraphsKeepIsTakenBackInNeed) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    ASSERT_EQ(launch_graph(graph_of(100 * kMiB)), 0);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(50 * kMiB, &address), 0);
    EXPECT_EQ(heap_bytes(), 50 * kMiB);
}

}  // namespace
