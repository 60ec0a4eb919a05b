#include "client/cgpuctl/doctor/base/in_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(InTime, WhatACheckFindsIsToldUnchanged) {
    Findings some = {ok("a", "fine"),
                     {Level::problem, "b", std::string("with \0 and \xff", 12), "why", "fix"},
                     unchecked("c", std::string(300'000, 'x'), "")};
    EXPECT_EQ(in_time(hours(1), "x", [&] { return some; }), some);
    EXPECT_EQ(in_time(hours(1), "x", [] { return Findings{}; }), Findings{});
}

TEST(InTime, ACheckThatHangsIsAFinding) {
    const auto findings = in_time(milliseconds(50), "disk", []() -> Findings {
        for (;;) pause();
    });
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].level, Level::problem);
    EXPECT_EQ(findings[0].check, "disk");
    EXPECT_NE(findings[0].what.find("did not end within"), std::string::npos);
}

/// A program that it waits for would otherwise hold the end of the pipe, or stay.
TEST(InTime, WhatItHasStartedEndsWithIt) {
    const test::TempFolder folder;
    const std::string pid_file = folder / "pid";
    const auto findings = in_time(std::chrono::seconds(1), "program", [&]() -> Findings {
        (void)!std::system(("echo $$ >" + pid_file + "; exec sleep 3600").c_str());
        return {};
    });
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_NE(findings[0].what.find("did not end within"), std::string::npos);
    std::string pid = test::read_text(pid_file);
    ASSERT_FALSE(pid.empty()) << "the shell didn't start within the second";
    pid.pop_back();
    // That of a process that has ended is empty.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!test::read_text("/proc/" + pid + "/cmdline").empty() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(test::read_text("/proc/" + pid + "/cmdline"), "");
}

TEST(InTime, ACheckThatBreaksOffIsAFinding) {
    for (const std::function<Findings()>& bad :
         {std::function<Findings()>([]() -> Findings { _exit(0); }),
          std::function<Findings()>([]() -> Findings { throw std::runtime_error("x"); }),
          std::function<Findings()>([]() -> Findings {
              raise(SIGKILL);
              return {};
          })}) {
        const auto findings = in_time(hours(1), "a check", bad);
        ASSERT_EQ(findings.size(), 1U);
        EXPECT_EQ(findings[0].what, "this check broke off");
    }
}

}  // namespace
}  // namespace cgpu::cgpuctl::doctor
