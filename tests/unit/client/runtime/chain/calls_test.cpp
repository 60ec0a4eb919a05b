#include "client/runtime/chain/calls.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cgpu::runtime {
namespace {

TEST(Calls, AnEngineLeavesNoMark) {
    expect_call(Call::first);
    EXPECT_EQ(this_call(), Call::first);
    for (const char* foreign : {"", "1", "next", "next-runtime "}) EXPECT_EQ(call_of(foreign), Call::first);
}

TEST(Calls, EachProgramThatIsExecutedGetsItsMark) {
    for (const Call call : {Call::by_next_runtime, Call::by_low_level_runtime, Call::first}) {
        expect_call(call);
        EXPECT_EQ(this_call(), call);
    }
}

}  // namespace
}  // namespace cgpu::runtime
