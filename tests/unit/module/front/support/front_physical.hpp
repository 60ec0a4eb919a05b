#pragma once

#include "tests/unit/module/front/support/front_fixture.hpp"

/// Physical memory, of which the test driver frees nothing: only charges are looked at.
class FrontPhysical : public Front {
  protected:
    static constexpr std::uint64_t kBytes = 32 * kMiB;
    static constexpr std::uint64_t kAddress = 0x5000'0000'0000;

    std::uint64_t create() const {
        cgpu::front::CUmemAllocationProp what{};
        what.type = 1;
        what.location = {1, 0};
        std::uint64_t handle = 0;
        EXPECT_EQ((call<int(std::uint64_t*, std::size_t, const cgpu::front::CUmemAllocationProp*,
                            unsigned long long)>("cuMemCreate")(&handle, kBytes, &what, 0)),
                  0);
        return handle;
    }
    void release(std::uint64_t handle) const {
        EXPECT_EQ(call<int(std::uint64_t)>("cuMemRelease")(handle), 0);
    }
    void map(std::uint64_t address, std::uint64_t handle) const {
        EXPECT_EQ((call<int(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long)>(
                      "cuMemMap")(address, kBytes, 0, handle, 0)),
                  0);
    }
    void unmap(std::uint64_t address, std::uint64_t bytes) const {
        EXPECT_EQ((call<int(std::uint64_t, std::size_t)>("cuMemUnmap")(address, bytes)), 0);
    }
    /// What can be allocated, and so isn't charged, is all but this. (The front's own thread may be just
    /// ending a charge.)
    void expect_charged(std::uint64_t bytes, int line = __builtin_LINE()) {
        const testing::ScopedTrace trace(__FILE__, line, "charged");
        const auto room = daemon().limit_bytes - kContextEstimate - bytes;
        std::uint64_t address = 0;
        ASSERT_TRUE(eventually([&] { return allocate(room, &address) == 0; }));
        EXPECT_EQ(free(address), 0);
        EXPECT_EQ(allocate(room + 1, &address), kOutOfMemory);
    }
};
