#include "client/runtime/hooks.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/unit/client/fake_node.hpp"
#include "tests/unit/client/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Calls = std::vector<std::string>;
using cgpuctl::kWebId;

struct HooksTest : testing::Test {
    client::Result<void> run(const std::vector<std::string>& arguments, const std::string& state = "{}") {
        std::istringstream input(state);
        return run_hook(arguments, input, node);
    }
    cgpuctl::FakeNode node;
};

TEST_F(HooksTest, AttachesTheHostsPid) {
    ASSERT_TRUE(run({"attach", kWebId}, R"({"ociVersion":"1.0.2","id":"x","pid":4711,"bundle":"/b"})"));
    EXPECT_EQ(node.calls, Calls{"attach " + std::string(kWebId)});
}

TEST_F(HooksTest, AStateWithoutAPidIsAnError) {
    for (const char* state : {"", "[]", "{}", R"({"pid":"1"})", R"({"pid":-1})"})
        EXPECT_FALSE(run({"attach", kWebId}, state)) << state;
    EXPECT_TRUE(node.calls.empty());
}

TEST_F(HooksTest, AContainerWithoutADriverIsRefused) {
    const client::TempRoot root;
    root.folder("/usr/lib");
    const auto mounted = run({"mount", "/run/cgpu/instances/x", root.path()});
    ASSERT_FALSE(mounted);
    EXPECT_TRUE(mounted.error().text.starts_with("the container: there is no libcuda.so.1 in it"));
}

TEST_F(HooksTest, OnlyADeadContainerIsReleased) {
    node.snapshot.instances[0].pid = static_cast<std::uint32_t>(getpid());
    ASSERT_TRUE(run({"release", kWebId}));
    EXPECT_TRUE(node.calls.empty());

    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    node.snapshot.instances[0].pid = static_cast<std::uint32_t>(child);
    ASSERT_TRUE(run({"release", kWebId}));
    EXPECT_EQ(node.calls, Calls{"release_instance " + std::string(kWebId)});
}

TEST_F(HooksTest, TheEndOfAContainerDoesNotFailForWantOfADaemon) {
    node.answer = client::fail(client::ClientError::Kind::unreachable, "no daemon");
    EXPECT_TRUE(run({"release", kWebId}));
}

TEST_F(HooksTest, OtherCallsAreErrors) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{}, {"attach"}, {"mount", "/x"}, {"dance", "x"}})
        EXPECT_FALSE(run(arguments));
}

}  // namespace
}  // namespace cgpu::runtime
