#include "client/modules/engine_users.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

using Pids = std::vector<std::uint32_t>;

std::string line(const std::string& path) {
    return "7f0000000000-7f0000001000 r-xp 00000000 08:01 4711    " + path + "\n";
}

TEST(EngineUsers, AreFoundByTheNamesOfMappedFiles) {
    const TempRoot proc;
    proc.file("/20/maps", line("/usr/lib/libc.so.6") +
                              line("/run/cgpu/module/0.1.0/libcgpu-engine.so.0.1.0") +
                              line("/run/cgpu/module/0.1.0/libcgpu-engine.so.0.1.0"));
    proc.file("/9/maps", line("/x/libcgpu-engine.so.0.1.0 (deleted)") + line("/x/libcgpu-engine.so.0.2.0"));
    proc.file("/30/maps", line("[heap]"));
    proc.file("/self/maps", line("/x/libcgpu-engine.so.0.1.0"));
    const auto users = find_engine_users(proc.path());
    EXPECT_EQ(users.of({0, 1, 0}), (Pids{9, 20}));
    EXPECT_EQ(users.of({0, 2, 0}), Pids{9});
    EXPECT_TRUE(users.of({0, 3, 0}).empty());
    EXPECT_TRUE(users.all_seen);
}

TEST(EngineUsers, OtherNamesDontCount) {
    const TempRoot proc;
    proc.file("/1/maps", line("/x/libcgpu-engine.so.0.1") + line("/x/mylibcgpu-engine.so.0.1.0") +
                             line("/x/libcgpu-engine.so.0.1.0.bak") + line("libcgpu-engine.so.0.1.0") +
                             line("/libcgpu-engine.so.0.1.0/other"));
    EXPECT_TRUE(find_engine_users(proc.path()).processes.empty());
}

TEST(EngineUsers, AProcessThatHasJustEndedIsNone) {
    const TempRoot proc;
    proc.folder("/77");
    EXPECT_TRUE(find_engine_users(proc.path()).all_seen);
}

TEST(EngineUsers, WithoutProcNobodyIsSeen) { EXPECT_TRUE(find_engine_users("/nowhere").processes.empty()); }

}  // namespace
}  // namespace cgpu::client
