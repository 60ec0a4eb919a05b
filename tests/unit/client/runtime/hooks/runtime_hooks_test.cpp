#include <sstream>

#include <gtest/gtest.h>

#include "client/runtime/hooks/attach_hook.hpp"
#include "client/runtime/hooks/mount_hook.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using Calls = std::vector<std::string>;
using cgpuctl::kWebId;

client::Result<void> attach(client::Node& node, const std::string& state) {
    std::istringstream input(state);
    return attach_hook(kWebId, input, node);
}

TEST(RuntimeHooks, AttachesTheHostsPid) {
    cgpuctl::FakeNode node;
    ASSERT_TRUE(attach(node, R"({"ociVersion":"1.0.2","id":"x","pid":4711,"bundle":"/b"})"));
    EXPECT_EQ(node.calls, Calls{"attach " + std::string(kWebId)});
}

TEST(RuntimeHooks, AStateWithoutAPidIsAnError) {
    cgpuctl::FakeNode node;
    for (const char* state : {"", "[]", "{}", R"({"pid":"1"})", R"({"pid":-1})"})
        EXPECT_FALSE(attach(node, state)) << state;
    EXPECT_TRUE(node.calls.empty());
}

TEST(RuntimeHooks, AContainerWithoutADriverIsRefused) {
    const client::TempRoot root;
    root.folder("/usr/lib");
    const auto mounted = mount_hook("/run/cgpu/instances/x", root.path(), {});
    ASSERT_FALSE(mounted);
    EXPECT_TRUE(mounted.error().text.starts_with("the container: there is no libcuda.so.1 in it"));
}

}  // namespace
}  // namespace cgpu::runtime
