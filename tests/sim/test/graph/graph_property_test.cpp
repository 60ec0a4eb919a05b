// A graph does what the same work does in streams: the same data, the same GPU time.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

constexpr unsigned int kElements = 64;
constexpr std::size_t kBytes = kElements * sizeof(float);

/// The node of that number writes the place of that number: a value of its own, or the sum of two places on
/// which it depends.
struct Work {
    std::vector<std::size_t> dependencies;
    unsigned long long microseconds;

    bool is_sum() const { return dependencies.size() >= 2; }
};

std::vector<Work> some_work() {
    const auto size = *rc::gen::inRange<std::size_t>(1, 25);
    std::vector<Work> all(size);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (*rc::gen::inRange(0, 4) == 0) all[i].dependencies.push_back(j);
        }
        all[i].microseconds = *rc::gen::inRange<unsigned long long>(0, 200);
    }
    return all;
}

/// The result: all places, as text, and the GPU time.
struct Outcome {
    std::vector<float> data;
    Nanoseconds served;
};

Outcome run(const std::function<void(const std::vector<CUdeviceptr>&)>& launch, std::size_t places) {
    TestDevice device(1);
    const std::string path = "/tmp/simgpu-outcome-" + std::to_string(getpid());
    Child child([&](const Child::Line&) {
        use_device(0);
        const CUdeviceptr memory = allocate(places * kBytes);
        std::vector<CUdeviceptr> at;
        for (std::size_t i = 0; i < places; ++i) at.push_back(memory + i * kBytes);
        launch(at);
        REQUIRE_OK(cuCtxSynchronize());
        const auto values = read_floats(memory, places * kElements);
        FILE* file = std::fopen(path.c_str(), "wb");
        REQUIRE_EQ(std::fwrite(values.data(), sizeof(float), values.size(), file), values.size());
        std::fclose(file);
    });
    const pid_t pid = child.pid();
    RC_ASSERT(child.wait() == 0);
    Outcome outcome{std::vector<float>(places * kElements), device.use(pid).served};
    FILE* file = std::fopen(path.c_str(), "rb");
    RC_ASSERT(std::fread(outcome.data.data(), sizeof(float), outcome.data.size(), file) ==
              outcome.data.size());
    std::fclose(file);
    std::remove(path.c_str());
    return outcome;
}

void launch_as_graph(const std::vector<Work>& all, const std::vector<CUdeviceptr>& at) {
    CUgraph graph = new_graph();
    std::vector<CUgraphNode> ends;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<CUgraphNode> after;
        for (const std::size_t dependency : all[i].dependencies) after.push_back(ends[dependency]);
        const CUgraphNode busy = add_busy(graph, after, all[i].microseconds);
        ends.push_back(all[i].is_sum()
                           ? add_sum(graph, {busy}, at[all[i].dependencies.front()],
                                     at[all[i].dependencies.back()], at[i], kElements)
                           : add_fill(graph, {busy}, at[i], static_cast<float>(i + 1), kElements));
    }
    REQUIRE_OK(cuGraphLaunch(instantiate(graph), nullptr));
}

void launch_in_streams(const std::vector<Work>& all, const std::vector<CUdeviceptr>& at) {
    std::vector<CUevent> ends;
    CUfunction fill = kernel("fill");
    CUfunction sum = kernel("vector_add");
    for (std::size_t i = 0; i < all.size(); ++i) {
        CUstream stream = new_stream();
        for (const std::size_t dependency : all[i].dependencies) {
            REQUIRE_OK(cuStreamWaitEvent(stream, ends[dependency], 0));
        }
        launch_busy(stream, all[i].microseconds);
        unsigned int count = kElements;
        auto value = static_cast<float>(i + 1);
        CUdeviceptr to = at[i];
        CUdeviceptr a = all[i].is_sum() ? at[all[i].dependencies.front()] : 0;
        CUdeviceptr b = all[i].is_sum() ? at[all[i].dependencies.back()] : 0;
        void* of_fill[] = {&to, &value, &count};
        void* of_sum[] = {&a, &b, &to, &count};
        REQUIRE_OK(cuLaunchKernel(all[i].is_sum() ? sum : fill, 1, 1, 1, 1, 1, 1, 0, stream,
                                  all[i].is_sum() ? of_sum : of_fill, nullptr));
        ends.push_back(new_event(CU_EVENT_DISABLE_TIMING));
        REQUIRE_OK(cuEventRecord(ends.back(), stream));
    }
}

RC_GTEST_PROP(GraphProperty, ARandomGraphDoesWhatTheSameWorkDoesInStreams, ()) {
    const auto work = some_work();
    const Outcome graph = run([&](const auto& at) { launch_as_graph(work, at); }, work.size());
    const Outcome streams = run([&](const auto& at) { launch_in_streams(work, at); }, work.size());
    RC_ASSERT(graph.data == streams.data);
    Nanoseconds expected = 0;
    for (const Work& each : work) expected += static_cast<Nanoseconds>(each.microseconds) * 1000 + 2000;
    // Kernels that share the GPU may each end up to 1 ns late.
    const auto kernels = static_cast<Nanoseconds>(2 * work.size());
    RC_ASSERT(graph.served >= expected);
    RC_ASSERT(graph.served <= expected + kernels);
    RC_ASSERT(std::abs(graph.served - streams.served) <= kernels);
}

}  // namespace
}  // namespace simgpu::test
