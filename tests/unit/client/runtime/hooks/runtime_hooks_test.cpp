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
    std::istringstream state;
    const auto mounted = mount_hook("/run/cgpu/instances/x", root.path(), {}, state);
    ASSERT_FALSE(mounted);
    EXPECT_TRUE(mounted.error().text.starts_with("the container: there is no libcuda.so.1 in it"));
}

/// A container whose config.json has these createContainer hooks, each by its first argument after the
/// program.
std::string mount_error(const client::TempRoot& root, const std::string& hooks) {
    root.file("/config.json", R"({"hooks":{"createContainer":[)" + hooks + "]}}");
    std::istringstream state(R"({"pid":1,"bundle":")" + root.path() + "\"}");
    const auto mounted = mount_hook(root.at("/no/link"), root.path(), {}, state);
    return mounted ? "" : mounted.error().text;
}

TEST(RuntimeHooks, DriversThatLaterHooksChooseAmongAreRefused) {
    const std::string own = R"({"path":"/usr/bin/cgpu-runtime","args":["cgpu-runtime","hook","mount","x"]})";
    const std::string theirs =
        R"({"path":"/usr/bin/nvidia-ctk","args":["nvidia-ctk","hook","update-ldcache"]})";
    const std::string refusal = "the container: it has several drivers, such as ";
    const client::TempRoot root;
    root.library("/usr/lib/libcuda.so.1");
    EXPECT_FALSE(mount_error(root, own + "," + theirs).starts_with(refusal)) << "there is nothing to choose";
    root.library("/usr/local/cuda/compat/libcuda.so.1");
    EXPECT_TRUE(mount_error(root, own + "," + theirs).starts_with(refusal));
    EXPECT_FALSE(mount_error(root, theirs + "," + own).starts_with(refusal)) << "they have chosen";
    EXPECT_FALSE(mount_error(root, own).starts_with(refusal));
}

}  // namespace
}  // namespace cgpu::runtime
