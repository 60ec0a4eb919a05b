#include "client/runtime/oci/nvidia_volumes.hpp"

#include <gtest/gtest.h>

#include "client/runtime/hooks/mount_hook.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

/// The destinations of a container's mounts after its GPUs were replaced by those that it was granted.
std::vector<std::string> replaced(const std::string& mounts) {
    const client::TempRoot folder;
    folder.file("/config.json", R"({"mounts":[)" + mounts + "]}");
    auto bundle = OciBundle::read(folder.path()).value();
    const bool changed = replace_gpu_volumes(bundle, {"GPU-a", "GPU-b"});
    std::vector<std::string> destinations;
    for (const Json& mount : list_at(bundle.config(), Json::json_pointer("/mounts")))
        if (mount.is_object()) destinations.push_back(mount.value("destination", ""));
    if (!changed) destinations.insert(destinations.begin(), "unchanged");
    return destinations;
}

std::string volume(const std::string& name, const std::string& source = "/dev/null") {
    return R"({"destination":"/var/run/nvidia-container-devices)" + name + R"(","source":")" + source +
           R"("})";
}

using Destinations = std::vector<std::string>;
const Destinations kGranted = {"/var/run/nvidia-container-devices/GPU-a",
                               "/var/run/nvidia-container-devices/GPU-b"};

TEST(NvidiaVolumes, ThoseThatNameGpusNameTheGrantedOnes) {
    for (const char* name : {"/0", "/all", "/GPU-x", "/cdi/nvidia.com/gpu/1", "//1",
                             "/../nvidia-container-devices/1", "/1/", "X/1"})
        EXPECT_EQ(replaced(volume(name)), kGranted) << name;
    EXPECT_EQ(replaced(volume("/0") + "," + volume("/1", "/dev/../dev/null")), kGranted);
}

TEST(NvidiaVolumes, OthersStay) {
    const std::string tmp = R"({"destination":"/tmp","source":"/dev/null"})";
    EXPECT_EQ(replaced(tmp), (Destinations{"unchanged", "/tmp"}));
    EXPECT_EQ(replaced(volume("/0", "/srv/x")),
              (Destinations{"unchanged", "/var/run/nvidia-container-devices/0"}));
    EXPECT_EQ(replaced(volume("/imex/0")),
              (Destinations{"unchanged", "/var/run/nvidia-container-devices/imex/0"}));
    EXPECT_EQ(replaced("7"), Destinations{"unchanged"});
    EXPECT_EQ(replaced(tmp + "," + volume("/0")), (Destinations{"/tmp", kGranted[0], kGranted[1]}));
}

TEST(NvidiaVolumes, AreAddedWhereTheVariableDoesntCount) {
    const client::TempRoot folder;
    folder.file("/config.json", R"({"process":{"capabilities":{"bounding":["CAP_KILL"]}}})");
    auto bundle = OciBundle::read(folder.path()).value();
    EXPECT_TRUE(must_use_volumes({false, true}, bundle));
    EXPECT_FALSE(must_use_volumes({true, true}, bundle));
    EXPECT_FALSE(must_use_volumes({false, false}, bundle)) << "they wouldn't count either";
    add_gpu_volumes(bundle, {"GPU-a"});
    const Json all = list_at(bundle.config(), Json::json_pointer("/mounts"));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0]["destination"], "/var/run/nvidia-container-devices/GPU-a");
    folder.file("/config.json", R"({"process":{"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}}})");
    EXPECT_FALSE(must_use_volumes({false, true}, OciBundle::read(folder.path()).value()))
        << "it is privileged";
}

TEST(NvidiaSettings, AreReadBeforeTheFirstTable) {
    EXPECT_EQ(read_nvidia_settings(""), NvidiaSettings{});
    EXPECT_EQ(read_nvidia_settings("#accept-nvidia-visible-devices-envvar-when-unprivileged = false\n"),
              NvidiaSettings{});
    EXPECT_EQ(read_nvidia_settings("accept-nvidia-visible-devices-envvar-when-unprivileged = false # ours\n"
                                   "accept-nvidia-visible-devices-as-volume-mounts=true\n"),
              (NvidiaSettings{false, true}));
    EXPECT_EQ(read_nvidia_settings(
                  "[nvidia-container-cli]\naccept-nvidia-visible-devices-envvar-when-unprivileged = false\n"),
              NvidiaSettings{});
    EXPECT_EQ(read_nvidia_settings("accept-nvidia-visible-devices-envvar-when-unprivileged = \"no\"\n"),
              NvidiaSettings{});
}

TEST(NvidiaSettings, SayWhatToDoAboutAContainerWithoutADriver) {
    EXPECT_TRUE(advice({}).starts_with("install nvidia-container-toolkit"));
    EXPECT_TRUE(
        advice({false, false}).starts_with("write accept-nvidia-visible-devices-as-volume-mounts = true"));
    EXPECT_EQ(advice({false, true}).find("install"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::runtime
