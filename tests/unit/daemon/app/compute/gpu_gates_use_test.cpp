// What an instance that is alone on a GPU had of it, and what was due to it.
#include <gtest/gtest.h>

#include "daemon/app/compute/gpu_gates.hpp"
#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using cgpu::test::uuid;
using schedule::kMilli;
using schedule::kSecond;

struct Alone {
    Alone() {
        EXPECT_TRUE(node.add_instance(instance("a", {quota(0, 1000)})).has_value());
        gates.update(node, *node.find_gpu(uuid(0)));
        for (const auto& each : {one, two}) gates.add(id("a"), 0, each);
        gates.step(kSecond, {});
    }
    InstanceUsage usage(Nanos now) {
        gates.step(now, {});
        InstanceUsage usage;
        gates.fill_usage(id("a"), now, usage);
        return usage;
    }
    model::Node node = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::weighted})});
    GpuGates gates{*node.find_gpu(uuid(0)), model::Policy::weighted, 5 * kMilli, 20 * kSecond};
    std::shared_ptr<test::TestPages> one = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> two = std::make_shared<test::TestPages>(2);
};

// Nothing was due to a job that was over before anybody had looked at it twice, and it got 90 % of the GPU.
TEST(GpuGatesUse, what_a_short_job_used_alone_was_due_to_it) {
    Alone job;
    job.one->its_reports.gpus[0].used_ns = 40 * kMilli;
    job.gates.remove(id("a"), job.one->process, kSecond + 50 * kMilli);
    const auto usage = job.usage(kSecond + 50 * kMilli);
    EXPECT_EQ(usage.gpu_time, static_cast<std::uint64_t>(40 * kMilli));
    EXPECT_GE(usage.due, usage.gpu_time);
    EXPECT_LE(usage.due, static_cast<std::uint64_t>(50 * kMilli));
}

TEST(GpuGatesUse, several_processes_at_work_are_looked_at_often_and_one_is_not) {
    Alone job;
    const auto at_work = [](test::TestPages& pages) {
        pages.its_reports.gpus[0].launches = 1;
        pages.its_reports.gpus[0].in_flight_ns = pages.its_reports.gpus[0].oldest_ns = kMilli;
        pages.its_reports.gpus[0].updated_ns = pages.its_reports.gpus[0].oldest_start_ns = 2 * kSecond;
    };
    at_work(*job.one);
    job.gates.step(2 * kSecond, {});
    EXPECT_EQ(job.gates.due_at(), 3 * kSecond) << "the other one rings for none of its work";
    at_work(*job.two);
    job.gates.step(2 * kSecond, {});
    EXPECT_LE(job.gates.due_at(), 2 * kSecond + 100 * kMilli);
    job.gates.remove(id("a"), job.one->process, 2 * kSecond);
    job.gates.step(2 * kSecond, {});
    EXPECT_GT(job.gates.due_at(), 3 * kSecond);
}

}  // namespace
}  // namespace cgpu::app
