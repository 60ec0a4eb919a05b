#include "client/fs/orders.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "client/node/bus_errors.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::fs {
namespace {

using cgpuctl::FakeNode;
using cgpuctl::kUuid1;
using cgpuctl::kWebId;

const std::string kOfWeb = "/0/0123456789ab/";

/// What a write of the text makes of the node: the calls, or "errno N".
std::string written(FakeNode& node, const std::string& path, const std::string& text) {
    const auto place = find_place(node.snapshot, path);
    if (!place) return "errno " + std::to_string(place.error());
    const auto order = read_order(node.snapshot, *place, text);
    if (!order) return "errno " + std::to_string(order.error());
    node.calls.clear();
    if (const auto done = carry_out(*order, node); !done)
        return "errno " + std::to_string(errno_of(done.error()));
    return node.calls.empty() ? "nothing" : node.calls.front();
}

std::string written(const std::string& path, const std::string& text) {
    FakeNode node;
    return written(node, path, text);
}

const std::string kInvalid = "errno " + std::to_string(EINVAL);

TEST(Orders, SettingsOfAGpu) {
    EXPECT_EQ(written("/1/policy", "2\n"), std::string("GPU ") + kUuid1 + " policy 2");
    EXPECT_EQ(written("/1/policy", " weighted "), std::string("GPU ") + kUuid1 + " policy weighted");
    EXPECT_EQ(written("/1/max_inst", "25\n"), std::string("GPU ") + kUuid1 + " max_inst 25");
    EXPECT_EQ(written("/1/prio_ratio", "80\n"), std::string("GPU ") + kUuid1 + " prio_ratio 80");
}

TEST(Orders, SettingsOfAnInstance) {
    const std::string on = std::string(kWebId) + " [" + cgpuctl::kUuid0 + "] ";
    EXPECT_EQ(written(kOfWeb + "weight", "4\n"), on + "weight 4");
    EXPECT_EQ(written(kOfWeb + "highprio", "1\n"), on + "high");
    EXPECT_EQ(written(kOfWeb + "memsize", "1073741824\n"), on + "memory 1073741824");
}

TEST(Orders, OfTheNode) {
    EXPECT_EQ(written("/default_memsize", "0\n"), "set_default_memory 0");
    EXPECT_EQ(written("/upgrade", "hot 1.2.3\n"), "hot 1.2.3");
    EXPECT_EQ(written("/upgrade", "cold  1.2.3"), "cold 1.2.3");
}

TEST(Orders, InstCtlMakesAndEndsInstances) {
    FakeNode node;
    node.grant = client::Created{{client::Quota{}}, "", {}};
    EXPECT_EQ(written(node, "/inst_ctl", "1aabbccddeeff\n"), "create_instance aabbccddeeff aabbccddeeff");
    EXPECT_EQ(written(node, "/inst_ctl", "-0123456789ab\n"), std::string("release_instance ") + kWebId);
    EXPECT_EQ(written(node, "/inst_ctl", "7aabbccddeeff\n"), "errno " + std::to_string(ENOENT));
    for (const char* text : {"", "0", "aabbccddeeff", "xaabbccddeeff"})
        EXPECT_EQ(written(node, "/inst_ctl", text), kInvalid) << text;
    node.grant = client::Created{};  // the default memory is 0, so there is no instance
    EXPECT_EQ(written(node, "/inst_ctl", "1aabbccddeeff\n"), kInvalid);
}

TEST(Orders, InstCtlEndsNoneThatIsOnlyCalledSo) {
    FakeNode node;
    node.snapshot.instances[0].name = "a-long-name-of-web";
    for (const char* word : {"-a-long-name-of-web", "-A-LONG-NAME-OF-WEB"})
        EXPECT_EQ(written(node, "/inst_ctl", word), "errno " + std::to_string(ENOENT)) << word;
}

TEST(Orders, WhatIsNoNumberIsInvalid) {
    for (const char* text : {"", "\n", "x", "-1", "1x", "1 2", "4294967296", "1.5", "0x10"})
        EXPECT_EQ(written("/1/max_inst", text), kInvalid) << text;
    EXPECT_EQ(written(kOfWeb + "highprio", "2"), kInvalid);
    EXPECT_EQ(written("/upgrade", "warm 1.2.3"), kInvalid);
    EXPECT_EQ(written("/upgrade", "hot"), kInvalid);
    EXPECT_EQ(written("/1/policy", "\n"), kInvalid);
}

TEST(Orders, FilesThatOnlyTell) {
    for (const char* path : {"/version", "/1/free_weight", "/1/major"})
        EXPECT_EQ(written(path, "1"), "errno " + std::to_string(EACCES)) << path;
    for (const char* file : {"id", "meminfo"})
        EXPECT_EQ(written(kOfWeb + file, "1"), "errno " + std::to_string(EACCES)) << file;
    EXPECT_EQ(written("/1", "1"), "errno " + std::to_string(EISDIR));
}

TEST(Orders, EachRefusalOfCgpudHasItsErrno) {
    const std::pair<const char*, int> all[] = {
        {"Invalid", EINVAL}, {"NotFound", ENOENT}, {"Exists", EEXIST},          {"Busy", EBUSY},
        {"NoSpace", ENOSPC}, {"NoMemory", ENOMEM}, {"Unsupported", EOPNOTSUPP}, {"TryAgain", EAGAIN},
        {"Changed", EAGAIN}, {"Storage", EIO},     {"NotAuthorized", EPERM},    {"Internal", EIO},
    };
    for (const auto& [reason, number] : all)
        EXPECT_EQ(errno_of(client::from_bus(std::string("org.cgpu1.Error.") + reason, "x")), number)
            << reason;
    EXPECT_EQ(errno_of(client::from_bus("org.freedesktop.DBus.Error.ServiceUnknown", "x")), EIO);
    EXPECT_EQ(errno_of(client::from_bus("org.freedesktop.DBus.Error.AccessDenied", "x")), EPERM);
}

}  // namespace
}  // namespace cgpu::fs
