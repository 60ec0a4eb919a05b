#include "core/trace/buffer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace cgpu::trace {
namespace {

Record at(Nanos when) { return {Kind::turn, 1, when, when, {}, {}}; }

TEST(TraceBuffer, WhatDoesNotFitIsCountedAndToldOf) {
    Buffer buffer(3);
    for (const Nanos when : {1, 2, 3, 4, 5}) buffer.put(at(when));
    std::vector<Record> taken;
    buffer.take(taken);
    EXPECT_EQ(taken, (std::vector<Record>{at(1), at(2)}));
    buffer.put(at(6));
    buffer.take(taken);
    EXPECT_EQ(taken, (std::vector<Record>{{Kind::dropped, 0, 3, 6, {3}, {}}, at(6)}));
    EXPECT_EQ(buffer.dropped(), 3U);
    EXPECT_EQ(buffer.records(), 4U);
}

TEST(TraceBuffer, TheLastRecordIsNeverDropped) {
    Buffer buffer(2);
    for (const Nanos when : {1, 2, 3}) buffer.put(at(when));
    buffer.put_last({Kind::end, 0, 0, 9, {}, {}});
    std::vector<Record> taken;
    buffer.take(taken);
    EXPECT_EQ(taken,
              (std::vector<Record>{at(1), {Kind::dropped, 0, 2, 9, {2}, {}}, {Kind::end, 0, 0, 9, {}, {}}}));
}

// Whatever the writer and the reader do: the order stays, the bound holds, and what is missing is accounted
// for.
RC_GTEST_PROP(TraceBuffer, EveryRecordIsTakenOrCounted, ()) {
    const auto most = *rc::gen::inRange<std::size_t>(2, 12);
    const auto moves =
        *rc::gen::container<std::vector<bool>>(rc::gen::weightedElement<bool>({{5, true}, {1, false}}));
    Buffer buffer(most);
    std::vector<Record> all, taken;
    Nanos put = 0;
    const auto take = [&] {
        buffer.take(taken);
        RC_ASSERT(taken.size() <= most + 2);
        all.insert(all.end(), taken.begin(), taken.end());
    };
    for (const bool puts : moves) {
        if (puts)
            buffer.put(at(++put));
        else
            take();
    }
    buffer.put_last({Kind::end, 0, 0, put + 1, {}, {}});
    take();
    Nanos next = 1;  // the next one that was put in, and has neither been taken nor counted
    for (const auto& record : all) {
        if (record.kind == Kind::turn) RC_ASSERT(record.begin == next++);
        if (record.kind != Kind::dropped) continue;
        RC_ASSERT(record.begin == next);
        next += record.values[0];
    }
    RC_ASSERT(next == put + 1);
    RC_ASSERT(all.back().kind == Kind::end);
    RC_ASSERT(buffer.records() == all.size());
    const auto dropped = std::accumulate(
        all.begin(), all.end(), std::int64_t{0},
        [](auto sum, const auto& each) { return sum + (each.kind == Kind::dropped ? each.values[0] : 0); });
    RC_ASSERT(static_cast<std::int64_t>(buffer.dropped()) == dropped);
}

}  // namespace
}  // namespace cgpu::trace
