// GPUs with and without a trace.
#include <gtest/gtest.h>

#include "daemon/app/compute/doorbell_wait.hpp"
#include "daemon/app/compute/gpu_gates.hpp"
#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using trace::Kind;
using trace::Record;

struct GatesTrace : testing::Test {
    GatesTrace() {
        EXPECT_TRUE(node.add_instance(instance("a", {quota(0, 1000)})).has_value());
        update();
        gates.add(id("a"), 0, pages);
    }
    void update() { gates.update(node, node.gpus().front()); }
    std::vector<Record> taken() {
        std::vector<Record> records;
        gates.take_trace(records);
        return records;
    }
    void begin() { ASSERT_TRUE(gates.begin_trace({Kind::start, 0, now, now, {}, "of it"})); }

    Nanos now = monotonic_now();
    model::Node node = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::preemptive})});
    GpuGates gates{node.gpus().front(), model::Policy::preemptive, 5 * schedule::kMilli, schedule::kSecond};
    std::shared_ptr<test::TestPages> pages = std::make_shared<test::TestPages>(1);
};

TEST_F(GatesTrace, AnIdleGpuIsSteppedOnlyWhileItIsTraced) {
    gates.step(now, {});
    EXPECT_EQ(gates.due_at(), schedule::kForever);
    begin();
    gates.step(now, {});
    EXPECT_LE(gates.due_at(), now + 10 * schedule::kMilli);
    std::vector<Record> rest;
    gates.end_trace(now + 1, 3, rest);
    EXPECT_EQ(gates.due_at(), schedule::kForever);
    ASSERT_EQ(rest.back().kind, Kind::end);
    EXPECT_GT(rest.back().values[0], 0) << "the step was the trace's";
    EXPECT_EQ(rest.back().values[3], 3);
}

TEST_F(GatesTrace, InstancesThatComeAndGoHaveTracks) {
    begin();
    EXPECT_FALSE(gates.begin_trace({})) << "one at a time";
    ASSERT_TRUE(node.add_instance(instance("b", {quota(0, 1000, 3)})).has_value());
    update();
    gates.note({Kind::refused, 0, now, now, {1}, {}}, id("b"));
    ASSERT_TRUE(node.remove_instance(id("b")));
    update();
    const auto records = taken();
    ASSERT_EQ(records.size(), 5U);
    EXPECT_EQ(records[0].text, "of it");
    EXPECT_EQ(records[1].text, "a\na");
    EXPECT_EQ(records[2].text, "b\nb");
    EXPECT_EQ(records[2].values[0], 3);
    EXPECT_EQ(records[3].track, 2);
    EXPECT_EQ(records[4].kind, Kind::left);
}

TEST_F(GatesTrace, WorkIsTheTimeThatThePagesReport) {
    begin();
    auto& report = pages->its_reports.gpus[0];
    gates.step(now, {});
    report.used_ns = 2 * schedule::kMilli;
    report.launches = 9;
    report.updated_ns = now + 3 * schedule::kMilli;
    gates.step(now + 4 * schedule::kMilli, {});
    const auto records = taken();
    const auto work = std::find_if(records.begin(), records.end(),
                                   [](const Record& record) { return record.kind == Kind::work; });
    ASSERT_NE(work, records.end());
    EXPECT_EQ(work->values, (std::array<std::int64_t, 4>{2 * schedule::kMilli, 9, 0, 0}));
    EXPECT_EQ(work->end, now + 4 * schedule::kMilli);
}

TEST_F(GatesTrace, WithoutATraceNothingIsKept) {
    gates.note({Kind::refused, 0, now, now, {1}, {}}, id("a"));
    EXPECT_TRUE(taken().empty());
    std::vector<Record> rest;
    gates.end_trace(now, 0, rest);
    EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace cgpu::app
