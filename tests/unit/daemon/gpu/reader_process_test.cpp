#include "daemon/gpu/reader_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::gpu {
namespace {

/// What comes until the other end closes, or `length` bytes; waits for it (10 s at most).
std::string read_from(int fd, std::size_t length) {
    std::string all;
    std::array<char, 256> part{};
    pollfd ready{fd, POLLIN, 0};
    while (all.size() < length && poll(&ready, 1, 10'000) == 1) {
        const auto got = recv(fd, part.data(), part.size(), 0);
        if (got <= 0) break;
        all.append(part.data(), static_cast<std::size_t>(got));
    }
    return all;
}

TEST(NvmlReaderProcess, AChildReadsAndWritesTheSocket) {
    ReaderProcess process("", "/bin/cat");
    const auto fd = process.start();
    ASSERT_TRUE(fd) << fd.error().text;
    ASSERT_EQ(send(*fd, "abc\n", 4, 0), 4);
    EXPECT_EQ(read_from(*fd, 4), "abc\n");
    shutdown(*fd, SHUT_WR);
    EXPECT_EQ(read_from(*fd, 1), "") << "it has ended";
    close(*fd);
}

TEST(NvmlReaderProcess, AChildBlocksNoSignals) {
    sigset_t alarm;
    sigset_t before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    test::TempFolder folder;
    const auto program = folder.path() / "blocked";
    test::write_text(program, "#!/bin/sh\ngrep SigBlk /proc/self/status\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ReaderProcess process("", program);
    const auto fd = process.start();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ASSERT_TRUE(fd) << fd.error().text;
    EXPECT_EQ(read_from(*fd, 25), "SigBlk:\t0000000000000000\n");
    close(*fd);
}

TEST(NvmlReaderProcess, WhatIsNotThereIsSaid) {
    const auto child = ReaderProcess("", "/nowhere/cgpu-nvml").start();
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().text,
              "the reader of NVML: /nowhere/cgpu-nvml can't be started: No such file or directory. Try: "
              "install cgpu again.");
    const auto service = ReaderProcess("/nowhere/socket", "/bin/cat").start();
    ASSERT_FALSE(service);
    EXPECT_EQ(service.error().text,
              "the reader of NVML: nothing answers at /nowhere/socket: No such file or directory. Try: "
              "systemctl start "
              "cgpu-nvml.socket.");
    EXPECT_FALSE(ReaderProcess(std::string(200, 'x'), "/bin/cat").start());
}

}  // namespace
}  // namespace cgpu::gpu
