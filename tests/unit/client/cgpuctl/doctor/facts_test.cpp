#include <gtest/gtest.h>

#include "client/cgpuctl/docker/toml.hpp"
#include "client/cgpuctl/doctor/facts/cdi_paths.hpp"
#include "client/cgpuctl/doctor/facts/driver_version.hpp"
#include "client/cgpuctl/doctor/facts/free_space.hpp"
#include "client/cgpuctl/doctor/facts/host_memory.hpp"
#include "client/cgpuctl/doctor/facts/link_mount.hpp"
#include "client/cgpuctl/doctor/facts/self_check.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

using Words = std::vector<std::string>;

Level worst(const Findings& findings) {
    Level level = Level::ok;
    for (const Finding& finding : findings) level = std::max(level, finding.level);
    return level;
}

TEST(Message, IsDividedIntoItsThreeParts) {
    EXPECT_EQ(from_message(Level::problem, "x", "file.yaml:3: policy: there is none. Try: policy: fixed."),
              (Finding{Level::problem, "x", "file.yaml:3", "policy: there is none", "policy: fixed"}));
    EXPECT_EQ(from_message(Level::warning, "x", "plain words."),
              (Finding{Level::warning, "x", "plain words", "", ""}));
}

TEST(KernelModule, OfBothKinds) {
    const auto closed = read_kernel_module(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->version, "470.256.02");
    EXPECT_FALSE(closed->open);
    const auto open = read_kernel_module(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)\n");
    ASSERT_TRUE(open);
    EXPECT_EQ(open->version, "580.65.06");
    EXPECT_TRUE(open->open);
    for (const char* text : {"", "NVRM version:", "GCC version: gcc version 12.2.0\n"})
        EXPECT_FALSE(read_kernel_module(text)) << text;
}

TEST(DriverVersion, OfALibrarysName) {
    EXPECT_EQ(version_of_library("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"), "580.65.06");
    EXPECT_EQ(version_of_library("/usr/lib/wsl/lib/libcuda.so.1.1"), "");
    EXPECT_EQ(version_of_library("/usr/lib/libcuda.so.1"), "");
    EXPECT_EQ(version_of_library("/usr/lib/libcuda.so"), "");
}

TEST(DriverVersion, AlikeAndKnown) {
    EXPECT_EQ(worst(judge_driver({"580.65.06", "580.65.06", "580.65.06"})), Level::ok);
    EXPECT_EQ(worst(judge_driver({"", "", "470.10"})), Level::ok);
    EXPECT_EQ(worst(judge_driver({"580.65.06", "580.95.05", "580.65.06"})), Level::problem);
    EXPECT_EQ(worst(judge_driver({"580.65.06", "580.65.06", "550.1"})), Level::problem);
    EXPECT_EQ(worst(judge_driver({"", "580.65.06", "550.1"})),
              Level::warning);  // only cgpud has an old library
    EXPECT_EQ(worst(judge_driver({"460.1", "460.1", ""})), Level::problem);
    EXPECT_EQ(worst(judge_driver({"590.1", "590.1", ""})), Level::warning);
    for (const Finding& finding : judge_driver({"460.1", "450.1", "590.1"})) {
        EXPECT_FALSE(finding.why.empty()) << finding.what;
        EXPECT_FALSE(finding.fix.empty()) << finding.what;
    }
}

TEST(HostMemory, IsReadByTheGpuOnlyWhereTheDriverCan) {
    const auto level = [](const HostMemory& memory) { return judge_host_memory(memory).level; };
    EXPECT_EQ(level({false, true, "", "", true}), Level::ok);
    EXPECT_EQ(level({true, true, "N\n", "1\n", true}), Level::warning);
    EXPECT_EQ(level({true, true, "Y\n", "1\n", true}), Level::ok);
    EXPECT_EQ(level({true, false, "N\n", "1\n", true}), Level::ok);  // the closed modules have no HMM
    EXPECT_EQ(level({true, true, "", "", true}), Level::ok);         // nor have those before 535
    EXPECT_EQ(level({true, false, "Y\n", "1\n", false}), Level::warning);
    EXPECT_EQ(level({true, false, "Y\n", "0\n", false}), Level::ok);
}

TEST(Toml, TablesAndListsOfStrings) {
    const auto entries = read_toml(
        "disable-require = false\n"
        "#swarm-resource = \"DOCKER_RESOURCE_GPU\"\n"
        "\n"
        "[nvidia-container-runtime]\n"
        "  runtimes = [\n"
        "    \"docker-runc\", # the first\n"
        "    'runc',\n"
        "  ]\n"
        "mode = \"auto\"\n"
        "[engine.runtimes]  # of Podman\r\n"
        "\"cgpu\" = [\"/usr/bin/cgpu-runtime\"]\r\n");
    EXPECT_EQ(entries, (std::vector<TomlEntry>{
                           {"", "disable-require", {}},
                           {"nvidia-container-runtime", "runtimes", {"docker-runc", "runc"}},
                           {"nvidia-container-runtime", "mode", {"auto"}},
                           {"engine.runtimes", "cgpu", {"/usr/bin/cgpu-runtime"}},
                       }));
}

TEST(Toml, WhatIsNoTomlHasNoEntries) {
    for (const char* text : {"", "[", "]", "= [", "[a", "x = [\"", "\"", "=\n=\n[\n"}) (void)read_toml(text);
    EXPECT_TRUE(read_toml("no key\n# k = v\n = \"value\"\n\"\" = [\"a\",\n").empty());
}

TEST(CdiPaths, OfYamlAndJson) {
    EXPECT_EQ(host_paths_of("containerEdits:\n"
                            "  deviceNodes:\n"
                            "  - path: /dev/nvidia0\n"
                            "    hostPath: /dev/nvidia0\n"
                            "  mounts:\n"
                            "  - hostPath: \"/usr/lib/libcuda.so.1\" \n"
                            "    containerPath: /usr/lib/libcuda.so.1\n"
                            "  - {hostPath: /usr/lib/libcuda.so.1, containerPath: /x}\n"),
              (Words{"/dev/nvidia0", "/usr/lib/libcuda.so.1"}));
    EXPECT_EQ(
        host_paths_of(R"({"mounts": [{"hostPath": "/a b/c", "containerPath": "/x"},{"hostPath":"/d"}]})"),
        (Words{"/a b/c", "/d"}));
    for (const char* text : {"", "hostPath", "hostPath:", "hostPath: relative", "hostPath: \""})
        EXPECT_TRUE(host_paths_of(text).empty()) << text;
}

TEST(LinkMount, NamesTheInstance) {
    const std::string usual = "199 153 0:65 / /var/lib rw,relatime - tmpfs x rw\n";
    EXPECT_FALSE(instance_of_link(usual));
    EXPECT_EQ(
        instance_of_link(usual + "225 227 0:63 /cgpu/instances/eb9d/link /run/cgpu/link ro - tmpfs x rw\n"),
        "eb9d");
    EXPECT_EQ(instance_of_link("225 227 0:63 /instances/eb9d/link//deleted /run/cgpu/link ro - tmpfs x rw\n"),
              "eb9d");
    EXPECT_FALSE(instance_of_link("225 227 0:63 /instances/eb9d/link /mnt/run/cgpu/link ro - tmpfs x rw\n"));
    EXPECT_FALSE(instance_of_link("225 227 0:63 /other /run/cgpu/link ro - tmpfs x rw\n"));
}

TEST(SelfCheck, HasAFindingForEachLine) {
    EXPECT_EQ(worst(judge_self_check(SelfCheck{0, "the configuration and the state are good\n"}, true)),
              Level::ok);
    EXPECT_EQ(worst(judge_self_check(std::nullopt, true)), Level::unchecked);
    const auto warned = judge_self_check(
        SelfCheck{0, "the configuration and the state are good\ncgpud: warning: history: why. Try: this.\n"},
        true);
    EXPECT_EQ(warned, (Findings{{Level::warning, "configuration", "history", "why", "this"}}));
    const auto findings =
        judge_self_check(SelfCheck{78,
                                   "cgpud: /etc/cgpu/cgpud.yaml:1: there is no such key. Try: policy.\n"
                                   "cgpud: /etc/cgpu/cgpud.yaml:2: no number. Try: 4.\n"},
                         false);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0], (Finding{Level::problem, "configuration", "/etc/cgpu/cgpud.yaml:1",
                                    "there is no such key; cgpud does not start", "policy"}));
}

TEST(FreeSpace, IsJudgedByBytesFilesAndMode) {
    const auto level = [](const Space& space) { return judge_space("x", "/y", "z", space).level; };
    constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;
    EXPECT_EQ(level({kMuch, true, 1000, true, false}), Level::ok);
    EXPECT_EQ(level({0, true, 1000, true, false}), Level::problem);
    EXPECT_EQ(level({kNearlyFull - 1, true, 1000, true, false}), Level::warning);
    EXPECT_EQ(level({kMuch, true, 0, true, false}), Level::problem);
    EXPECT_EQ(level({kMuch, true, 1000, true, true}), Level::problem);
    EXPECT_EQ(level({0, false, 0, false, false}), Level::ok);  // a file system that counts neither
}

}  // namespace
}  // namespace cgpu::cgpuctl::doctor
