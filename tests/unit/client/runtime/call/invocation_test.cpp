#include "client/runtime/call/invocation.hpp"

#include <gtest/gtest.h>

namespace cgpu::runtime {
namespace {

TEST(Invocation, AsContainerdCalls) {
    const auto call =
        read_invocation({"--root", "/run/docker/runtime-runc/moby", "--log", "/b/log.json", "--log-format",
                         "json", "--systemd-cgroup", "create", "--bundle", "/b", "--pid-file", "/b/init.pid",
                         "--console-socket", "/tmp/pty", "0123abcd"});
    EXPECT_TRUE(call.creates());
    EXPECT_EQ(call.id, "0123abcd");
    EXPECT_EQ(call.bundle, "/b");
    EXPECT_EQ(call.log, "/b/log.json");
    EXPECT_TRUE(call.log_as_json);
}

TEST(Invocation, EveryWayToNameTheBundle) {
    EXPECT_EQ(read_invocation({"create", "--bundle=/b", "x"}).bundle, "/b");
    EXPECT_EQ(read_invocation({"create", "-b", "/b", "x"}).bundle, "/b");
    EXPECT_EQ(read_invocation({"create", "x", "--bundle", "/b"}).bundle, "/b");
    EXPECT_EQ(read_invocation({"create", "x"}).bundle, "");
    EXPECT_EQ(read_invocation({"create", "x"}).id, "x");
}

TEST(Invocation, OfPodman) {
    const auto call = read_invocation({"--log=/l", "--cgroup-manager", "cgroupfs", "create", "--bundle", "/b",
                                       "--pid-file=/p", "0123abcd"});
    EXPECT_TRUE(call.creates());
    EXPECT_EQ(call.id, "0123abcd");
    EXPECT_EQ(call.log, "/l");
    EXPECT_FALSE(call.log_as_json);
}

TEST(Invocation, OfAProcessThatIsExecuted) {
    const auto call = read_invocation({"--root", "/r", "--log", "/l", "exec", "--process", "/tmp/p",
                                       "--detach", "--pid-file", "/f", "0123abcd"});
    EXPECT_EQ(call.command, "exec");
    EXPECT_EQ(call.id, "0123abcd");
    EXPECT_EQ(call.root, "/r");
    EXPECT_EQ(call.process, "/tmp/p");
    EXPECT_EQ(read_invocation({"exec", "-p=/p", "x"}).process, "/p");
}

TEST(Invocation, OtherCommandsMakeNoContainer) {
    for (const std::string command : {"start", "state", "kill", "delete", "exec", "features"})
        EXPECT_FALSE(read_invocation({"--root", "create", command, "create"}).creates()) << command;
    EXPECT_FALSE(read_invocation({"--version"}).creates());
    EXPECT_FALSE(read_invocation({}).creates());
}

TEST(Invocation, AnOptionWithoutItsValueIsTheNextRuntimesMatter) {
    EXPECT_EQ(read_invocation({"create", "x", "--bundle"}).bundle, "");
}

}  // namespace
}  // namespace cgpu::runtime
