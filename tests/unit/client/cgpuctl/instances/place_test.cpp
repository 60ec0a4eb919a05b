#include "client/cgpuctl/instances/place.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cgpu::cgpuctl {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(Place, EnginesAreKnownByTheirCgroups) {
    EXPECT_EQ(engine_in("0::/system.slice/docker-" + kId + ".scope\n", kId), Engine::docker);
    EXPECT_EQ(engine_in("12:cpu:/\n0::/docker/" + kId + "\n", kId), Engine::docker);
    EXPECT_EQ(engine_in("0::/machine.slice/libpod-" + kId + ".scope/container\n", kId), Engine::podman);
    EXPECT_EQ(engine_in("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId +
                            ".scope/container\n",
                        kId),
              Engine::podman);
    EXPECT_EQ(engine_in("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + kId + ".scope\n", kId),
              Engine::cri);
    EXPECT_EQ(engine_in("0::/kubepods/besteffort/pod1/" + kId + "\n", kId), Engine::cri);
    EXPECT_EQ(engine_in("0::/docker/" + std::string(64, 'f') + "\n", kId), Engine::none)
        << "of another container, in which cgpuctl run was called";
    EXPECT_EQ(engine_in("0::/user.slice/cgpu-job-0123456789ab.scope\n", kId), Engine::none);
    EXPECT_EQ(engine_in("", kId), Engine::none);
    EXPECT_EQ(engine_in("0::/docker/\n", ""), Engine::none);
}

TEST(Place, EnginesAreKnownByTheirMonitors) {
    const auto monitor = [](std::string words) {
        std::ranges::replace(words, ' ', '\0');
        return engine_of_monitor(words, kId);
    };
    EXPECT_EQ(monitor("/usr/bin/containerd-shim-runc-v2 -namespace moby -id " + kId + " -address /run/x"),
              Engine::docker);
    EXPECT_EQ(monitor("containerd-shim-runc-v2 -namespace k8s.io -id " + kId), Engine::cri);
    EXPECT_EQ(monitor("containerd-shim-runc-v2 -namespace default -id " + kId), Engine::none);
    EXPECT_EQ(monitor("/usr/bin/conmon --api-version 1 -c " + kId + " --exit-command /usr/bin/podman"),
              Engine::podman);
    EXPECT_EQ(monitor("/usr/bin/conmon -c " + kId), Engine::cri);
    EXPECT_EQ(monitor("containerd-shim-runc-v2 -namespace moby -id other"), Engine::none);
    EXPECT_EQ(monitor("bash -c " + kId), Engine::none);
    EXPECT_EQ(monitor(""), Engine::none);
}

TEST(Place, CommandsOfEngines) {
    client::Instance instance;
    instance.id = kId;
    instance.name = "web";
    EXPECT_EQ(engine_command("stop", instance), "docker stop web, or podman stop web");
    instance.name = "two words";
    EXPECT_EQ(engine_command("logs", instance), "docker logs 0123456789ab, or podman logs 0123456789ab");
    EXPECT_FALSE(is_container(instance));
    instance.image = "train:1";
    EXPECT_TRUE(is_container(instance));
}

TEST(Place, TheJournalOfAService) {
    EXPECT_EQ(journal_of("0::/system.slice/train.service\n"), "journalctl -u train.service");
    EXPECT_EQ(journal_of("0::/user.slice/user-1000.slice/user@1000.service/app.slice/train.service\n"),
              "journalctl --user -u train.service");
    EXPECT_EQ(journal_of("0::/user.slice/user-1000.slice/session-1.scope\n"), "");
    EXPECT_EQ(journal_of("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n"), "");
}

}  // namespace
}  // namespace cgpu::cgpuctl
