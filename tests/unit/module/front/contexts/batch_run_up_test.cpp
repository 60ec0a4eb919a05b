// How long the GPU waited for a batch's first launch is told only if nothing of the batch can have begun
// before.
#include <gtest/gtest.h>

#include "module/front/contexts/context_batches.hpp"

namespace cgpu::front {
namespace {

class BatchRunUp : public testing::Test {
  protected:
    Batch batch{1, nullptr, nullptr, nullptr, false, nullptr, false};

    BatchRunUp() { batch.idle_ns = 1'000'000; }
};

TEST_F(BatchRunUp, IsTheTimeSinceItsStartWasRecordedOnAnIdleStream) {
    EXPECT_EQ(batch.run_up_ns(1'003'800), 3'800);
}

TEST_F(BatchRunUp, IsUnknownIfTheStreamWasNotIdle) {
    batch.idle_ns = 0;
    EXPECT_EQ(batch.run_up_ns(1'003'800), 0);
}

// The thread that opened it may be held in its call, while a launch of another one runs already.
TEST_F(BatchRunUp, IsUnknownOnceAnotherThreadHasLaunchedIntoIt) {
    batch.shared = true;
    EXPECT_EQ(batch.run_up_ns(1'003'800), 0);
}

TEST_F(BatchRunUp, IsUnknownIfTheLaunchDidNotReturnBeforeItWasClosed) {
    batch.closed = true;
    EXPECT_EQ(batch.run_up_ns(2'000'000'000), 0);
}

}  // namespace
}  // namespace cgpu::front
