// Copy engines, priorities and words of memory, in virtual time.
#include <gtest/gtest.h>

#include "tests/sim/test/model/model_gpus.hpp"

namespace simgpu::test {
namespace {

constexpr std::uint32_t kToDevice = 0;
constexpr std::uint32_t kFromDevice = 1;

Record& copy(ModelGpus& gpus, const Position& place, Nanoseconds arrival, Nanoseconds duration,
             std::uint32_t engine) {
    Record& record = gpus.push(place, RecordKind::copy, arrival);
    record.duration = duration;
    record.engine = engine;
    return record;
}

/// The first word, taken, with a value.
std::uint32_t add_word(ModelGpus& gpus, std::uint32_t bytes, std::uint64_t value) {
    gpus.state->words[gpus.state->word_count] = MemoryWord{1, bytes, value};
    return ++gpus.state->word_count;
}

Record& on_word(ModelGpus& gpus, const Position& place, RecordKind kind, std::uint32_t word,
                std::uint64_t value) {
    Record& record = gpus.push(place, kind, 0);
    record.word = word;
    record.compare = Compare::equal;
    record.value = value;
    return record;
}

TEST(EngineTimeline, ACopyRunsBesideTheKernelsOfOtherContextsAndTakesNoGpuTime) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    const Record& kernel = gpus.kernel({0, 0, 0, 0}, 0, 10 * kMillisecond);
    const Record& moved = copy(gpus, {0, 1, 0, 0}, 100, 3 * kMillisecond, kToDevice);
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(moved.started, 100);
    EXPECT_EQ(moved.completed, 100 + 3 * kMillisecond);
    EXPECT_EQ(kernel.completed, 10 * kMillisecond);
    EXPECT_EQ(gpus.served(0, 1), 0);
}

TEST(EngineTimeline, CopiesOfOneDirectionShareItsEngineAndTheOtherDirectionIsFree) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 2);
    gpus.add_client(0, 1, 1);
    const Record& one = copy(gpus, {0, 0, 0, 0}, 0, kMillisecond, kToDevice);
    const Record& two = copy(gpus, {0, 1, 0, 0}, 0, kMillisecond, kToDevice);
    const Record& back = copy(gpus, {0, 0, 1, 0}, 0, kMillisecond, kFromDevice);
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(one.completed, 2 * kMillisecond);
    EXPECT_EQ(two.completed, 2 * kMillisecond);
    EXPECT_EQ(back.completed, kMillisecond);
}

TEST(EngineTimeline, ACopyHoldsWhatComesAfterItInItsQueue) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    copy(gpus, {0, 0, 0, 0}, 0, kMillisecond, kToDevice);
    const Record& kernel = gpus.kernel({0, 0, 0, 0}, 0, kMillisecond);
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(kernel.started, kMillisecond);
}

TEST(EngineTimeline, AMoreUrgentKernelGoesFirstAtTheEndOfTheRunningOne) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 2);
    const Record& running = gpus.kernel({0, 0, 0, 0}, 0, 2 * kMillisecond);
    const Record& next = gpus.kernel({0, 0, 0, 0}, 0, kMillisecond);
    Record& urgent = gpus.kernel({0, 0, 1, 0}, kMillisecond, 3 * kMillisecond);
    urgent.priority = -5;
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(urgent.started, kMillisecond);
    EXPECT_EQ(running.completed, 3 * kMillisecond);  // half the GPU from 1 ms on
    EXPECT_EQ(urgent.completed, 5 * kMillisecond);   // all of it from 3 ms on
    EXPECT_EQ(next.started, 5 * kMillisecond);
}

TEST(EngineTimeline, ASpinningKernelEndsWhenAnotherSetsTheWordAndHeldTheGpuUntilThen) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 2);
    const std::uint32_t word = add_word(gpus, 4, 0);
    const Record& spin = on_word(gpus, {0, 0, 0, 0}, RecordKind::spin, word, 7);
    gpus.kernel({0, 0, 1, 0}, 0, kMillisecond);
    Record& setter = gpus.kernel({0, 0, 1, 0}, 0, kMillisecond);
    setter.word = word;
    setter.value = 7;
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(setter.completed, 4 * kMillisecond);  // it had half the GPU
    EXPECT_EQ(spin.completed, 4 * kMillisecond);
    EXPECT_EQ(gpus.served(0, 0), 4 * kMillisecond);
}

TEST(EngineTimeline, AWordIsWaitedForAcrossContextsWithoutTheGpu) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 0, 1);
    const std::uint32_t word = add_word(gpus, 8, 0);
    const Record& wait = on_word(gpus, {0, 0, 0, 0}, RecordKind::wait_word, word, 1);
    gpus.kernel({0, 1, 0, 0}, 0, 5 * kMillisecond);
    on_word(gpus, {0, 1, 0, 0}, RecordKind::write_word, word, 1);
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(wait.completed, 5 * kMillisecond);
    EXPECT_EQ(gpus.served(0, 0), 0);
}

TEST(EngineTimeline, ASpinForAWordThatNobodySetsNeverEnds) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    on_word(gpus, {0, 0, 0, 0}, RecordKind::spin, add_word(gpus, 4, 0), 1);
    const Record& other = gpus.kernel({0, 1, 0, 0}, 0, 10 * kMillisecond);
    gpus.advance(1000 * kMillisecond);
    EXPECT_EQ(gpus.state->gpus[0].clients[0].queues[0].head, 0U);
    EXPECT_GT(other.completed, 10 * kMillisecond);  // the slices of the spinning one lie between
}

TEST(MemoryWord, ComparesAsCudaDoes) {
    const MemoryWord narrow{1, 4, 5};
    EXPECT_TRUE(is_satisfied(narrow, Compare::at_least, 5));
    EXPECT_FALSE(is_satisfied(narrow, Compare::at_least, 6));
    EXPECT_TRUE(is_satisfied(narrow, Compare::at_least, 0xffff'fff0));  // cyclic
    EXPECT_FALSE(is_satisfied(MemoryWord{1, 8, 5}, Compare::at_least, 0xffff'fff0));
    EXPECT_TRUE(is_satisfied(narrow, Compare::equal, 5));
    EXPECT_FALSE(is_satisfied(narrow, Compare::equal, 4));
    EXPECT_TRUE(is_satisfied(narrow, Compare::any_bit, 6));
    EXPECT_FALSE(is_satisfied(narrow, Compare::any_bit, 2));
    EXPECT_TRUE(is_satisfied(narrow, Compare::not_all_bits, 0));
    EXPECT_FALSE(is_satisfied(narrow, Compare::not_all_bits, 0xffff'fffa));
}

}  // namespace
}  // namespace simgpu::test
