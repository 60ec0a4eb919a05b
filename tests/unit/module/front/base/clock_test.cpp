// The clock is asked in programs of their own, which are started as users start theirs.
#include "module/front/base/clock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cgpu::front {
namespace {

struct Ran {
    int status = -1;
    std::string said;
};

Ran run(const std::string& command) {
    Ran ran;
    FILE* out = popen((command + " 2>&1").c_str(), "r");
    if (out == nullptr) return ran;
    char chunk[1024];
    while (const auto got = std::fread(chunk, 1, sizeof chunk, out)) ran.said.append(chunk, got);
    const int status = pclose(out);
    if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
    return ran;
}

/// Runs the probe after that beginning of a command; its clock must be this process's.
void expect_host_time(const std::string& beginning) {
    const auto before = now_ns();
    const Ran ran = run(beginning + " " CGPU_TEST_CLOCK_PROBE " " + std::to_string(before));
    ASSERT_EQ(ran.status, 0) << beginning << ": " << ran.said;
    const auto its = std::strtoll(ran.said.c_str(), nullptr, 10);
    EXPECT_GE(its, before) << beginning;
    EXPECT_LE(its, now_ns()) << beginning;
}

TEST(Clock, IsTheKernels) { expect_host_time(""); }

TEST(Clock, IsNotThatOfLibrariesInFront) {
    for (const char* kind : {"still", "slow", "fast", "ahead", "behind"}) {
        const std::string beginning = "FAKE_CLOCK=" + std::string(kind) + " LD_PRELOAD=" CGPU_TEST_FAKE_CLOCK;
        expect_host_time(beginning);
    }
}

TEST(Clock, IsNotThatOfATimeNamespace) {
    const std::string unshare = "unshare --user --map-root-user --time ";
    if (run(unshare + "true").status != 0) GTEST_SKIP() << "time namespaces aren't available here";
    for (const char* offset : {"100000", "3", "1"}) {
        expect_host_time(unshare + "--monotonic " + offset);
        expect_host_time(unshare + "--monotonic " + offset +
                         " env FAKE_CLOCK=fast LD_PRELOAD=" CGPU_TEST_FAKE_CLOCK);
    }
    // One in another, and back to the time at which the host started.
    expect_host_time(unshare + "--monotonic 100000 unshare --time --monotonic 5");
    expect_host_time(unshare + "--monotonic -" + std::to_string(now_ns() / 1'000'000'000 / 2));
}

TEST(Clock, AMountOverTheOffsetIsNotBelieved) {
    const std::string unshare = "unshare --user --map-root-user --mount ";
    if (run(unshare + "true").status != 0) GTEST_SKIP() << "user namespaces aren't available here";
    // The file's line in the form of the kernel's, and another process's file.
    expect_host_time(
        unshare +
        "sh -c 'echo \"monotonic 100000 0\" >/tmp/cgpu-offsets.$$; mount --bind /tmp/cgpu-offsets.$$ "
        "/proc/$$/timens_offsets || exit 3; rm /tmp/cgpu-offsets.$$; exec \"$@\"' sh");
}

TEST(Clock, OffsetsAreReadAsTheKernelWritesThem) {
    EXPECT_EQ(monotonic_offset_in("monotonic           0         0\nboottime            0         0\n"), 0);
    EXPECT_EQ(monotonic_offset_in("monotonic      100000         7\nboottime            5         0\n"),
              100'000'000'000'007);
    EXPECT_EQ(monotonic_offset_in("monotonic          -1 999999999\n"), -1);
    EXPECT_EQ(monotonic_offset_in("boottime            9         0\nmonotonic      2         0\n"),
              2'000'000'000);
    for (const char* text :
         {"", "\n", "monotonic", "monotonic x y", "boottime 5 0", "monotonic 99999999999999999999 0",
          "monotonic -99999999999999999999 0", "monotonic 1 1000000000", "monotonic 1 -1",
          "monotonic 9223372036854775807 9223372036854775807"})
        EXPECT_EQ(monotonic_offset_in(text), 0) << text;
}

}  // namespace
}  // namespace cgpu::front
