#include <gtest/gtest.h>

#include "tests/unit/core/support/admissions.hpp"

/// One GPU serves one mode at a time.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using model::Mode;
using model::Node;
using Reason = model::Refusal::Reason;

const request::Variables kAny = {{"CGPU_MEM", "1GiB"}};
const request::Variables kMemory = {{"CGPU_MEM", "1GiB"}, {"CGPU_MODE", "memory"}};

model::Sighting gpu_in(std::uint8_t n, Mode mode) {
    model::GpuSettings settings;
    settings.mode = mode;
    return gpu(n, 16130, settings);
}

TEST(AdmitMode, IsTheGpusWhereNoneIsAskedFor) {
    EXPECT_EQ(grant_for(v100(), kAny).mode, Mode::memory_compute);
    EXPECT_EQ(grant_for(node({gpu_in(0, Mode::none)}), kAny).mode, Mode::none);
}

TEST(AdmitMode, AnEmptyGpuTakesTheModeAskedFor) {
    Node n = v100();
    EXPECT_EQ(start(n, "a", kMemory).mode, Mode::memory);
    EXPECT_EQ(grant_for(n, kMemory).mode, Mode::memory);
}

// Found as jobs without any limit: a job of 64 MiB had made the GPU serve mode none.
TEST(AdmitMode, WhoAsksForNoModeGetsNoneThatIsWeakerThanTheConfiguredOne) {
    for (const char* weaker : {"none", "memory"}) {
        Node n = node({gpu(0, 16130), gpu(1, 16130)});
        start(n, "a", {{"CGPU_MEM", "64MiB"}, {"CGPU_MODE", weaker}, {"CGPU_GPUS", "0"}});
        const auto refusal = refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}});
        EXPECT_EQ(refusal.reason, Reason::busy);
        EXPECT_NE(refusal.text.find("mode memory+compute is asked for"), std::string::npos) << refusal.text;
        EXPECT_NE(refusal.text.find(std::string("the GPU serves 1 instance in mode ") + weaker),
                  std::string::npos)
            << refusal.text;
        EXPECT_EQ(start(n, "b", kAny).quotas.at(0).gpu, uuid(1)) << "placed elsewhere";
        EXPECT_EQ(refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0,1"}}).reason, Reason::busy);
    }
    // A stronger one than the configured one is what the GPU serves.
    Node open = node({gpu_in(0, Mode::none)});
    start(open, "a", kMemory);
    EXPECT_EQ(grant_for(open, kAny).mode, Mode::memory);
}

TEST(AdmitMode, AnotherThanTheOneServedIsRefusedOnANamedGpu) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    start(n, "a", {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}});
    request::Variables named = kMemory;
    named["CGPU_GPUS"] = "0";
    const auto refusal = refusal_for(n, named);
    EXPECT_EQ(refusal.reason, Reason::busy);
    EXPECT_NE(refusal.text.find("in mode memory+compute"), std::string::npos) << refusal.text;
}

TEST(AdmitMode, AnotherThanTheOneServedIsPlacedElsewhere) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    start(n, "a", kAny);
    EXPECT_EQ(start(n, "b", kMemory).quotas.at(0).gpu, uuid(1));
    EXPECT_EQ(start(n, "c", kMemory).quotas.at(0).gpu, uuid(1));
    EXPECT_EQ(refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_MODE", "none"}}).reason, Reason::busy);
}

TEST(AdmitMode, HuaweisMemoryOnlyKeepsOutOfGpusThatIsolateCompute) {
    Node n = v100();
    start(n, "a", {{"volcano.sh/gpu-mem.128Mi", "8"}, {"volcano.sh/gpu-core.percentage", "25"}});
    EXPECT_EQ(refusal_for(n, {{"volcano.sh/gpu-mem.128Mi", "8"}}).reason, Reason::busy);
}

TEST(AdmitMode, AllGpusOfAnInstanceAreInOneMode) {
    Node n = node({gpu_in(0, Mode::memory), gpu_in(1, Mode::none), gpu_in(2, Mode::memory)});
    const Grant placed = grant_for(n, {{"CGPU_MEM", "1GiB"}, {"aliyun.com/gpu-count", "2"}});
    EXPECT_EQ(placed.mode, Mode::memory);
    EXPECT_EQ(placed.quotas.at(0).gpu, uuid(0));
    EXPECT_EQ(placed.quotas.at(1).gpu, uuid(2));
    refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"aliyun.com/gpu-count", "3"}});
    // Of GPUs that are named, the strongest mode counts.
    EXPECT_EQ(grant_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0,1"}}).mode, Mode::memory);
    EXPECT_EQ(grant_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "1,0"}}).mode, Mode::memory);
    start(n, "a", {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "1"}});
    EXPECT_EQ(refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0,1"}}).reason, Reason::busy);
}

/// The node was switched: a request without a mode gets that mode, on every GPU, or is refused.
TEST(AdmitMode, ASwitchedModeIsThatOfARequestThatAsksForNone) {
    Defaults none;
    none.mode = Mode::none;
    Defaults isolated;
    isolated.mode = Mode::memory_compute;
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    EXPECT_EQ(grant_for(n, kAny, none).mode, Mode::none);
    EXPECT_EQ(grant_for(n, kMemory, none).mode, Mode::memory) << "who asks for one still gets it";
    EXPECT_EQ(start(n, "a", {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}}, none).mode, Mode::none);
    // Isolation is turned on: a running instance keeps its mode, and its GPU takes no other meanwhile.
    const auto refusal = refusal_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}}, isolated);
    EXPECT_EQ(refusal.reason, Reason::busy);
    EXPECT_NE(refusal.text.find("the GPU serves 1 instance in mode none"), std::string::npos) << refusal.text;
    EXPECT_EQ(start(n, "b", kAny, isolated).quotas.at(0).gpu, uuid(1));
    ASSERT_TRUE(n.remove_instance(*model::InstanceId::parse("a")));
    EXPECT_EQ(grant_for(n, {{"CGPU_MEM", "1GiB"}, {"CGPU_GPUS", "0"}}, isolated).mode, Mode::memory_compute);
}

}  // namespace
}  // namespace cgpu::admission
