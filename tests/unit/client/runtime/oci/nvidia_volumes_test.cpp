#include "client/runtime/oci/nvidia_volumes.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cgpu::runtime
