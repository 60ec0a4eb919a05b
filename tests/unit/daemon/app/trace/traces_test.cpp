#include "daemon/app/trace/traces.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using cgpu::test::reason_of;
using cgpu::test::uuid;
using trace::Kind;
using trace::Record;
using Reason = model::Refusal::Reason;

/// Both ends of a stream; it outlives the trace.
struct Pipe {
    std::size_t room = SIZE_MAX;  ///< bytes that it takes until it is read
    bool gone = false, done = false, closed = false;
    std::vector<std::byte> bytes;

    std::vector<Record> records() const {
        std::vector<Record> all;
        for (std::size_t at = 0; at < bytes.size();) {
            const auto decoded = trace::decode(std::span(bytes).subspan(at));
            EXPECT_GT(decoded.bytes, 0U);
            if (decoded.bytes == 0) break;
            all.push_back(decoded.record);
            at += decoded.bytes;
        }
        return all;
    }
};

class FakeStream final : public TraceStream {
  public:
    explicit FakeStream(Pipe& pipe) : pipe_(pipe) {}
    ~FakeStream() override { pipe_.closed = true; }
    FakeStream(const FakeStream&) = delete;
    FakeStream& operator=(const FakeStream&) = delete;
    std::optional<std::size_t> send(std::span<const std::byte> bytes) override {
        if (pipe_.gone) return std::nullopt;
        const auto taken = std::min(bytes.size(), pipe_.room);
        pipe_.room -= taken;
        pipe_.bytes.insert(pipe_.bytes.end(), bytes.begin(),
                           bytes.begin() + static_cast<std::ptrdiff_t>(taken));
        return taken;
    }
    Reader reader() override { return pipe_.gone || pipe_.done ? Reader::is_done : Reader::reads; }

  private:
    Pipe& pipe_;
};

class FakeStreams final : public TraceStreams {
  public:
    Result<OpenedTrace> open() override {
        if (broken) return model::refuse(Reason::storage, "a trace", "no socket", "later");
        return OpenedTrace{std::make_unique<FakeStream>(pipe), 77};
    }
    bool broken = false;
    Pipe pipe;
};

/// Keeps the records of one GPU, as the slicer does.
class FakeTraced final : public TracedCompute {
  public:
    bool begin_trace(const model::Uuid& its, Record start) override {
        if (traced || !knows) return false;
        traced = its;
        held = {std::move(start)};
        return true;
    }
    void note(const model::Uuid& its, Record record,
              const std::optional<model::InstanceId>& instance) override {
        EXPECT_EQ(traced, its);
        if (instance) record.track = 1;
        held.push_back(std::move(record));
    }
    void take_trace(const model::Uuid&, std::vector<Record>& empty) override {
        ++takes;
        empty = std::exchange(held, {});
    }
    void end_trace(const model::Uuid&, Nanos cost, std::vector<Record>& empty) override {
        held.push_back({Kind::end, 0, 0, 0, {0, 0, 0, cost}, {}});
        empty = std::exchange(held, {});
        traced.reset();
        ++ends;
    }
    bool knows = true;
    int takes = 0, ends = 0;
    std::optional<model::Uuid> traced;
    std::vector<Record> held;
};

class MemoryOf final : public UsageSource {
  public:
    InstanceUsage usage(const model::InstanceId&, const model::Uuid&) const override {
        ++reads;
        return now;
    }
    std::vector<model::Uuid> foreign_gpus(const model::InstanceId&) const override { return {}; }
    std::uint64_t take_memory_peak(const model::InstanceId&, const model::Uuid&) override { return 0; }
    InstanceUsage now;
    mutable int reads = 0;
};

struct TracesTest : testing::Test {
    TracesTest() {
        EXPECT_TRUE(node.add_instance(instance("web", {quota(0, 1000)})).has_value());
        EXPECT_TRUE(node.add_instance(instance("other", {quota(1, 1000)})).has_value());
    }
    void tick(int times = 1) {
        for (int i = 0; i < times; ++i) loop.advance(Traces::kEvery);
    }
    std::vector<Record> of_kind(Kind kind) const {
        std::vector<Record> some;
        for (const auto& record : streams.pipe.records())
            if (record.kind == kind) some.push_back(record);
        return some;
    }

    model::Node node = cgpu::test::node({gpu(0, 16130), gpu(1, 16130)});
    test::FakeLoop loop;
    FakeTraced compute;
    MemoryOf usage;
    FakeStreams streams;
    Traces traces{
        {loop, compute, usage, streams, [this] { return &node; }, [] { return std::uint64_t{42}; }}};
};

TEST_F(TracesTest, ATraceBeginsWithWhatIsTracedAndEndsWithItsTime) {
    EXPECT_EQ(traces.start(uuid(0), 2, {0, 5}).value(), 77);
    tick(2 * kSecond / Traces::kEvery);
    const auto records = streams.pipe.records();
    ASSERT_GE(records.size(), 2U);
    EXPECT_EQ(records.front().kind, Kind::start);
    EXPECT_EQ(records.front().text, uuid(0).to_string() + "\nTesla V100-SXM2-16GB\nproportional");
    EXPECT_EQ(records.front().values, (std::array<std::int64_t, 4>{42, 0, trace::kFormat, 0}));
    EXPECT_EQ(records.back().kind, Kind::end);
    EXPECT_TRUE(streams.pipe.closed);
    EXPECT_FALSE(compute.traced);
    const auto takes = compute.takes;
    tick(10);
    EXPECT_EQ(compute.takes, takes) << "nothing is done without a trace";
}

TEST_F(TracesTest, AGpuHasOneTraceAtATime) {
    ASSERT_TRUE(traces.start(uuid(0), 2, {1000, 5}));
    const auto second = traces.start(uuid(0), 2, {0, 6});
    EXPECT_EQ(reason_of(second), Reason::busy);
    EXPECT_EQ(
        second.error().text,
        "a trace of GPU 0: it is traced already, by user id 1000, process 5. Try: wait until that trace has "
        "ended.");
    for (const std::uint32_t seconds : {0U, 3601U})
        EXPECT_EQ(reason_of(traces.start(uuid(1), seconds, {})), Reason::invalid);
    EXPECT_EQ(reason_of(traces.start(uuid(9), 1, {})), Reason::not_found);
    streams.broken = true;
    EXPECT_EQ(reason_of(traces.start(uuid(1), 1, {})), Reason::storage);
}

TEST_F(TracesTest, AReaderMayEndItEarlyAndGetsTheRest) {
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    tick(3);
    streams.pipe.done = true;
    compute.held.push_back({Kind::turn, 1, 1, 2, {}, {}});
    tick();
    const auto records = streams.pipe.records();
    EXPECT_EQ(records[records.size() - 2].kind, Kind::turn);
    EXPECT_EQ(records.back().kind, Kind::end);
    EXPECT_TRUE(streams.pipe.closed);
    EXPECT_TRUE(traces.start(uuid(0), 1, {})) << "the GPU can be traced again";
}

TEST_F(TracesTest, AReaderThatIsGoneEndsIt) {
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    tick();
    streams.pipe.gone = true;
    tick();
    EXPECT_TRUE(streams.pipe.closed);
    EXPECT_FALSE(compute.traced);
    EXPECT_EQ(compute.ends, 1);
}

TEST_F(TracesTest, ForASlowReaderABoundedPartIsKept) {
    streams.pipe.room = 100;
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    tick();
    const auto takes = compute.takes;
    for (int i = 0; i < 40; ++i) {
        if (compute.held.empty()) compute.held.assign(1000, {Kind::turn, 1, 1, 2, {}, {}});
        tick();
    }
    EXPECT_LE(compute.takes - takes, static_cast<int>(Traces::kMostWaiting / (1000 * trace::kFixedBytes)) + 1)
        << "the records stay where they are bounded";
    EXPECT_EQ(streams.pipe.bytes.size(), 100U);
    streams.pipe.room = SIZE_MAX;
    tick(2);
    streams.pipe.done = true;
    tick();
    EXPECT_EQ(streams.pipe.records().back().kind, Kind::end);
}

TEST_F(TracesTest, AReaderThatNeverReadsIsGivenUp) {
    streams.pipe.room = 10;
    ASSERT_TRUE(traces.start(uuid(0), 1, {}));
    tick(kSecond / Traces::kEvery + 1);
    EXPECT_FALSE(compute.traced) << "the records end in time";
    EXPECT_FALSE(streams.pipe.closed);
    tick(Traces::kPatience / Traces::kEvery + 1);
    EXPECT_TRUE(streams.pipe.closed);
}

TEST_F(TracesTest, MemoryIsToldWhenItChanges) {
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    usage.now.memory_limit = 1000;
    tick(50);
    EXPECT_EQ(of_kind(Kind::memory).size(), 1U);
    EXPECT_LE(usage.reads, 50 * Traces::kEvery / Traces::kMemoryEvery + 1);
    usage.now.memory_used = 7;
    usage.now.memory_leased = 8;
    usage.now.allocations_refused = 3;
    tick(10);
    ASSERT_EQ(of_kind(Kind::memory).size(), 2U);
    EXPECT_EQ(of_kind(Kind::memory)[1].values, (std::array<std::int64_t, 4>{7, 8, 1000, 0}));
    EXPECT_EQ(of_kind(Kind::memory)[1].track, 1);
    ASSERT_EQ(of_kind(Kind::refused).size(), 1U);
    EXPECT_EQ(of_kind(Kind::refused)[0].values[0], 3);
}

TEST_F(TracesTest, RefusalsBeforeTheTraceAreNotToldAndThoseOfANewInstanceAre) {
    usage.now.allocations_refused = 3;
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    tick(10);
    EXPECT_TRUE(of_kind(Kind::refused).empty());
    ASSERT_TRUE(node.add_instance(instance("new", {quota(0, 1000)})));
    tick(10);
    ASSERT_EQ(of_kind(Kind::refused).size(), 1U);
    EXPECT_EQ(of_kind(Kind::refused)[0].values[0], 3);
}

TEST_F(TracesTest, EventsOfTheGpuItsInstancesAndTheNodeAreInIt) {
    traces.happened({.type = EventType::job_begun, .message = "before"}, {});
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    tick(10);
    Event event{.type = EventType::setting_changed, .message = "GPU 0: policy"};
    event.gpu = uuid(0);
    traces.happened(event, {});
    event.gpu = uuid(1);
    traces.happened(event, {});
    traces.happened({.type = EventType::job_begun, .message = "upgrade"}, {});
    for (const char* name : {"web", "other", "never-seen"}) {
        Event ended{.type = EventType::instance_ended, .message = name};
        ended.instance = id(name);
        traces.happened(ended, {});
    }
    // One that was on the GPU, and is no more in the node.
    ASSERT_TRUE(node.remove_instance(id("web")));
    Event gone{.type = EventType::instance_ended, .message = "web is gone"};
    gone.instance = id("web");
    traces.happened(gone, {});
    tick();
    std::vector<std::string> texts;
    for (const auto& record : of_kind(Kind::event)) texts.push_back(record.text);
    EXPECT_EQ(texts, (std::vector<std::string>{"setting-changed\nGPU 0: policy", "job-begun\nupgrade",
                                               "instance-ended\nweb", "instance-ended\nweb is gone"}));
}

TEST_F(TracesTest, WhenCgpudEndsTheRestIsSent) {
    ASSERT_TRUE(traces.start(uuid(0), 3600, {}));
    traces.stop();
    EXPECT_EQ(streams.pipe.records().back().kind, Kind::end);
    EXPECT_TRUE(streams.pipe.closed);
    traces.happened({.type = EventType::daemon_stopped}, {});
}

}  // namespace
}  // namespace cgpu::app
