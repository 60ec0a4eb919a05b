#include "daemon/app/memory/pool/memory_peak.hpp"

#include <gtest/gtest.h>

namespace cgpu::app {
namespace {

TEST(MemoryPeak, IsTheMostThatWasNoted) {
    MemoryPeak peak;
    EXPECT_EQ(peak.bytes(), 0U);
    peak.note(300, 50, true);
    peak.note(700, 50, true);
    peak.note(100, 60, true);
    EXPECT_EQ(peak.bytes(), 750U);
}

TEST(MemoryPeak, OfALaterTimeIsItsOwn) {
    MemoryPeak peak;
    peak.note(700, 50, true);
    EXPECT_EQ(peak.take_latest(), 750U);
    peak.note(200, 50, true);
    EXPECT_EQ(peak.take_latest(), 250U);
    EXPECT_EQ(peak.take_latest(), 0U);
    EXPECT_EQ(peak.bytes(), 750U);
}

TEST(MemoryPeak, HasNoEstimates) {
    MemoryPeak peak;
    peak.note(0, 256, false);
    EXPECT_EQ(peak.bytes(), 0U) << "a context that nobody has seen";
    // Allocated and freed before the driver showed how large the context is.
    peak.note(500, 256, false);
    peak.note(0, 256, false);
    peak.note(0, 90, true);
    EXPECT_EQ(peak.bytes(), 590U);
    peak.note(0, 95, true);
    EXPECT_EQ(peak.bytes(), 590U) << "what was charged then is no longer";
}

}  // namespace
}  // namespace cgpu::app
