#include "client/runtime/oci/oci_bundle.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using client::TempRoot;

Json written(const TempRoot& folder) {
    std::ifstream file(folder.at("/config.json"));
    return Json::parse(file);
}

TEST(OciBundle, ReadsWhatItAsksFor) {
    const TempRoot folder;
    folder.file("/config.json", R"({"process":{"env":["A=1","B=x=y","A=2","C",7]},"hostname":"web",
        "mounts":[{"destination":"/etc/hostname","source":"/h"}],
        "annotations":{"aliyun.com/gpu-mem":"4"},"root":{"path":"rootfs"}})");
    const auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(bundle->environment(), (Variables{{"A", "2"}, {"B", "x=y"}}));
    EXPECT_EQ(bundle->annotations(), (Variables{{"aliyun.com/gpu-mem", "4"}}));
    EXPECT_EQ(bundle->host_name(), "web");
    EXPECT_EQ(bundle->mount_source("/etc/hostname"), "/h");
    EXPECT_EQ(bundle->mount_source("/etc/hosts"), "");
    EXPECT_EQ(bundle->root(), folder.at("/rootfs"));
}

TEST(OciBundle, HasNothingWhereNothingIsSaid) {
    const TempRoot folder;
    folder.file("/config.json", R"({"root":{"path":"/var/lib/merged"}})");
    const auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(bundle->host_name(), "");
    EXPECT_EQ(bundle->mount_source("/etc/hostname"), "");
    EXPECT_EQ(bundle->root(), "/var/lib/merged");
    EXPECT_EQ(bundle->environment(), Variables());
}

TEST(OciBundle, WritesWhatWasChangedAndKeepsTheRest) {
    const TempRoot folder;
    folder.file("/config.json", R"({"z":1,"process":{"env":["A=1","B=1","A=2"],"cwd":"/"},
        "hooks":{"prestart":[{"path":"/nv"}],"poststop":[{"path":"/x"}]},"a":[1.5,null]})");
    chmod(folder.at("/config.json").c_str(), 0640);
    auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    bundle->set_variable("A", "3");
    bundle->remove_variable("B");
    bundle->add_hook("poststop", {{"path", "/y"}});
    bundle->add_hook("createRuntime", {{"path", "/z"}});
    ASSERT_TRUE(bundle->write());
    EXPECT_EQ(written(folder), Json::parse(R"({"z":1,"process":{"env":["A=3"],"cwd":"/"},
        "hooks":{"prestart":[{"path":"/nv"}],"poststop":[{"path":"/x"},{"path":"/y"}],
        "createRuntime":[{"path":"/z"}]},"a":[1.5,null]})"));
    struct stat info {};
    ASSERT_EQ(stat(folder.at("/config.json").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0640U);
    EXPECT_FALSE(std::filesystem::exists(folder.at("/config.json.cgpu")));
}

TEST(OciBundle, HooksMoveBehindAllOthersOnce) {
    const TempRoot folder;
    folder.file("/config.json", R"({"hooks":{"createContainer":[{"path":"/a"},
        {"path":"/us","args":["us","hook","mount","1"]},{"path":"/b","args":["us","hook"]},7]}})");
    auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    EXPECT_FALSE(bundle->move_hooks_to_the_end("createRuntime", {"us", "hook", "mount"}));
    EXPECT_FALSE(bundle->move_hooks_to_the_end("createContainer", {"them"}));
    EXPECT_TRUE(bundle->move_hooks_to_the_end("createContainer", {"us", "hook", "mount"}));
    EXPECT_FALSE(bundle->move_hooks_to_the_end("createContainer", {"us", "hook", "mount"}));
    ASSERT_TRUE(bundle->write());
    EXPECT_EQ(written(folder), Json::parse(R"({"hooks":{"createContainer":[{"path":"/a"},
        {"path":"/b","args":["us","hook"]},7,{"path":"/us","args":["us","hook","mount","1"]}]}})"));
}

TEST(OciBundle, WhatIsNoObjectIsAnError) {
    const TempRoot folder;
    EXPECT_FALSE(OciBundle::read(folder.path()));
    for (const char* text : {"", "[]", "{\"a\":", "7"}) {
        folder.file("/config.json", text);
        EXPECT_FALSE(OciBundle::read(folder.path())) << text;
    }
}

// Found as a crash of the runtime: copying JSON needs stack for each level.
TEST(OciBundle, WhatIsNestedWithoutEndIsAnError) {
    const auto nested = [](std::size_t levels) {
        return R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
    };
    const TempRoot folder;
    folder.file("/config.json", nested(200'000));
    const auto deep = OciBundle::read(folder.path());
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().text.find("nested deeper than 256 levels"), std::string::npos)
        << deep.error().text;
    folder.file("/config.json", nested(200));
    auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    ASSERT_TRUE(bundle->write());
    EXPECT_EQ(written(folder), Json::parse(nested(200)));
}

TEST(OciBundle, OddTypesAreReadAsNothing) {
    const TempRoot folder;
    folder.file("/config.json",
                R"({"process":[],"annotations":7,"hooks":[],"root":"x","hostname":{},"mounts":{}})");
    auto bundle = OciBundle::read(folder.path());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(bundle->environment(), Variables());
    EXPECT_EQ(bundle->annotations(), Variables());
    EXPECT_EQ(bundle->host_name(), "");
    EXPECT_EQ(bundle->mount_source("/etc/hostname"), "");
    EXPECT_EQ(bundle->root(), folder.at("/rootfs"));
}

TEST(OciBundle, OddTypesAreNoFaultWhereTheyAreChanged) {
    for (const char* config : {R"({"process":[],"hooks":[]})", R"({"process":5,"hooks":5})",
                               R"({"process":"a","hooks":"a"})", R"({"process":{"env":{}},"hooks":null})"}) {
        const TempRoot folder;
        folder.file("/config.json", config);
        auto bundle = OciBundle::read(folder.path());
        ASSERT_TRUE(bundle);
        bundle->remove_variable("A");
        bundle->set_variable("B", "1");
        bundle->add_hook("createRuntime", {{"path", "/p"}});
        ASSERT_TRUE(bundle->write());
        EXPECT_EQ(written(folder)["process"]["env"], Json::parse(R"(["B=1"])")) << config;
        EXPECT_EQ(written(folder)["hooks"]["createRuntime"].size(), 1U) << config;
    }
}

}  // namespace
}  // namespace cgpu::runtime
