#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/sim/test/model/model_gpus.hpp"

namespace simgpu::test {
namespace {

struct Launch {
    std::uint32_t client;
    std::uint32_t queue;
    Nanoseconds arrival;
    Nanoseconds duration;
};

std::vector<Launch> some_launches(std::uint32_t clients, std::uint32_t queues) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 60);
    std::vector<Launch> launches;
    for (std::size_t i = 0; i < size; ++i) {
        launches.push_back({*rc::gen::inRange<std::uint32_t>(0, clients),
                            *rc::gen::inRange<std::uint32_t>(0, queues),
                            *rc::gen::inRange<Nanoseconds>(0, 20 * kMillisecond),
                            *rc::gen::inRange<Nanoseconds>(0, 5 * kMillisecond)});
    }
    std::sort(launches.begin(), launches.end(),
              [](const Launch& a, const Launch& b) { return a.arrival < b.arrival; });
    return launches;
}

std::vector<const Record*> submit(ModelGpus& gpus, std::uint32_t clients, std::uint32_t queues,
                                  const std::vector<Launch>& launches) {
    for (std::uint32_t client = 0; client < clients; ++client) gpus.add_client(0, client, queues);
    std::vector<const Record*> records;
    records.reserve(launches.size());
    for (const Launch& launch : launches) {
        records.push_back(&gpus.kernel({0, launch.client, launch.queue, 0}, launch.arrival, launch.duration));
    }
    return records;
}

constexpr Nanoseconds kEnd = 2'000 * kMillisecond;

RC_GTEST_PROP(TimelineProperty, ItDoesNotMatterHowOftenOneLooks, ()) {
    const std::uint32_t clients = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto launches = some_launches(clients, 1);
    ModelGpus once(1);
    ModelGpus often(1);
    const auto expected = submit(once, clients, 1, launches);
    const auto seen = submit(often, clients, 1, launches);
    once.advance(kEnd);
    std::mt19937 random(*rc::gen::arbitrary<unsigned int>());
    std::uniform_int_distribution<Nanoseconds> step(1, kMillisecond);
    for (Nanoseconds now = 0; now < 400 * kMillisecond; now += step(random)) often.advance(now);
    often.advance(kEnd);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        RC_ASSERT(seen[i]->started == expected[i]->started);
        RC_ASSERT(seen[i]->completed == expected[i]->completed);
    }
}

RC_GTEST_PROP(TimelineProperty, EveryKernelGetsItsTimeAndNoMore, ()) {
    const std::uint32_t clients = *rc::gen::inRange<std::uint32_t>(1, 6);
    const std::uint32_t queues = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto launches = some_launches(clients, queues);
    ModelGpus gpus(1);
    const auto records = submit(gpus, clients, queues, launches);
    gpus.advance(kEnd);
    std::vector<Nanoseconds> work(clients, 0);
    std::vector<std::size_t> kernels(clients, 0);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        work[launches[i].client] += launches[i].duration;
        ++kernels[launches[i].client];
        RC_ASSERT(records[i]->started >= launches[i].arrival);
        RC_ASSERT(records[i]->completed >= records[i]->started + launches[i].duration);
    }
    Nanoseconds sum = 0;
    for (std::uint32_t client = 0; client < clients; ++client) {
        // Streams that share the GPU may each end up to 1 ns late.
        RC_ASSERT(gpus.served(0, client) >= work[client]);
        RC_ASSERT(gpus.served(0, client) <= work[client] + static_cast<Nanoseconds>(kernels[client]));
        sum += gpus.served(0, client);
    }
    RC_ASSERT(gpus.state->gpus[0].busy.total() == sum);
}

RC_GTEST_PROP(TimelineProperty, ContextsThatAlwaysHaveWorkGetEqualTime, ()) {
    const std::uint32_t clients = *rc::gen::inRange<std::uint32_t>(2, 26);
    ModelGpus gpus(1);
    for (std::uint32_t client = 0; client < clients; ++client) {
        gpus.add_client(0, client, 1);
        const auto duration = *rc::gen::inRange<Nanoseconds>(3 * kMillisecond, 50 * kMillisecond);
        for (std::uint32_t i = 0; i < 1000; ++i) gpus.kernel({0, client, 0, 0}, 0, duration);
    }
    gpus.advance(2'500 * kMillisecond);
    Nanoseconds least = kNever;
    Nanoseconds most = 0;
    for (std::uint32_t client = 0; client < clients; ++client) {
        least = std::min(least, gpus.served(0, client));
        most = std::max(most, gpus.served(0, client));
    }
    RC_ASSERT(most - least <= kSlice);
}

}  // namespace
}  // namespace simgpu::test
