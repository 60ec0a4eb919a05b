#include "client/cgpuctl/docker/podman_config.hpp"

#include <gtest/gtest.h>

#include "client/cgpuctl/docker/toml.hpp"

namespace cgpu::cgpuctl {
namespace {

using Words = std::vector<std::string>;

TEST(PodmanConfig, IsReadAsItWasMeant) {
    const auto entries = read_toml(podman_config({}, "/usr/bin/cgpu-runtime", true));
    EXPECT_EQ(entries, (std::vector<TomlEntry>{
                           {"engine", "runtime", {"cgpu"}},
                           {"engine",
                            "runtime_supports_json",
                            {"crun", "runc", "kata", "runsc", "youki", "krun", "cgpu", "cgpu-runtime"}},
                           {"engine.runtimes", "cgpu", {"/usr/bin/cgpu-runtime"}},
                       }));
    EXPECT_EQ(podman_config({}, "/usr/bin/cgpu-runtime", false).find("runtime ="), std::string::npos);
}

TEST(PodmanConfig, FilesAreReadInThisOrder) {
    EXPECT_EQ(podman_files({"90-mine.conf", "50-cgpu.conf", "50-cgpu.conf.cgpu-new", "README"}),
              (Words{"/usr/share/containers/containers.conf", "/etc/containers/containers.conf", kPodmanFile,
                     "/etc/containers/containers.conf.d/90-mine.conf"}));
}

TEST(PodmanConfig, WhatTheUsersFilesListStays) {
    const auto list =
        runtimes_with_json({"", "[engine]\nruntime_supports_json = [\"runc\"]\n",
                            "[engine]\nruntime_supports_json = [\"mine\", \"cgpu\"]\n[containers]\nx = 1\n"});
    EXPECT_EQ(list, (Words{"mine", "cgpu"}));
    EXPECT_TRUE(runtimes_with_json({"[containers]\nruntime_supports_json = [\"runc\"]\n"}).empty());
    const auto entries = read_toml(podman_config(list, "/usr/bin/cgpu-runtime", false));
    EXPECT_EQ(entries.at(0).strings, (Words{"mine", "cgpu", "cgpu-runtime"}));
}

TEST(PodmanConfig, ALaterFileWins) {
    const std::string folder = kPodmanDropIns;
    const PodmanFile other{folder + "/90-other.conf", "[engine]\nruntime = \"crun\"\n"};
    const auto found = later_default({{"/etc/containers/containers.conf", "[engine]\nruntime = \"runc\"\n"},
                                      {folder + "/10-first.conf", "[engine]\nruntime = \"runc\"\n"},
                                      other});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, other.path);
    EXPECT_EQ(found->text, "crun");
    EXPECT_FALSE(later_default({{folder + "/90-a.conf", "[engine]\nruntime = \"cgpu\"\n"}}));
    EXPECT_FALSE(later_default({{folder + "/90-a.conf", "[network]\nruntime = \"crun\"\n"}}));
}

}  // namespace
}  // namespace cgpu::cgpuctl
