#include "daemon/system/memory_trim.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/system/event_loop.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::system {
namespace {

using app::kSecond;

struct MemoryTrimTest : testing::Test {
    app::test::FakeLoop loop;
    int trims = 0;
    MemoryTrim trim{loop, [this] { ++trims; }};

    void event() { trim.happened({}, {}); }
};

TEST_F(MemoryTrimTest, TrimsOnceWhenItWasQuietAfterAnEvent) {
    event();
    loop.advance(MemoryTrim::kQuiet - 1);
    EXPECT_EQ(trims, 0);
    loop.advance(1);
    EXPECT_EQ(trims, 1);
    loop.advance(1000 * kSecond);
    EXPECT_EQ(trims, 1);
}

TEST_F(MemoryTrimTest, WaitsForTheEndOfABurst) {
    for (int i = 0; i < 20; ++i) {
        event();
        loop.advance(MemoryTrim::kQuiet - 1);
    }
    EXPECT_EQ(trims, 0);
    loop.advance(1);
    EXPECT_EQ(trims, 1);
    event();
    loop.advance(MemoryTrim::kQuiet);
    EXPECT_EQ(trims, 2);
}

TEST(MemoryTrim, AnEventAfterTheEndOfTheLoopIsNoFault) {
    EventLoop loop;
    int trims = 0;
    MemoryTrim trim(loop, [&trims] { ++trims; });
    loop.post([&loop] { loop.stop(0); });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_NO_THROW(trim.happened({}, {}));
    EXPECT_EQ(trims, 0);
}

/// The resident bytes of the mapping that contains the address.
std::optional<std::uint64_t> resident_at(const void* address) {
    std::ifstream smaps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    bool found = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) found = begin <= wanted && wanted < end;
        unsigned long kib = 0;
        if (found && std::sscanf(line.c_str(), "Rss: %lu kB", &kib) == 1) return std::uint64_t{kib} << 10;
    }
    return std::nullopt;
}

TEST(ReturnUnusedMemory, ReturnsFreeBlocksBetweenOthers) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizer has a heap of its own";
#endif
    constexpr std::size_t kBlock = 64 << 10;  // below malloc's own mappings
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 512; ++i) {
        blocks.push_back(std::make_unique<char[]>(kBlock));
        blocks.back()[0] = blocks.back()[kBlock / 2] = 1;
    }
    const void* inside = blocks[256].get();
    const auto before = resident_at(inside);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        if (i % 16 != 0 && i != 256) blocks[i].reset();
    const auto freed = resident_at(inside);
    return_unused_memory();
    const auto after = resident_at(inside);
    ASSERT_TRUE(before && freed && after);
    EXPECT_LE(*after, *freed - 200 * kBlock);
    EXPECT_EQ(blocks[256][0], 1);
}

}  // namespace
}  // namespace cgpu::system
