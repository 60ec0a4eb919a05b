#include <map>

#include "client/cgpuctl/docker/engine_warnings.hpp"
#include "tests/unit/client/cgpuctl/doctor/checks_bed.hpp"

/// The checks of container engines.
namespace cgpu::cgpuctl::doctor {
namespace {

using EngineChecks = Checks;

TEST_F(EngineChecks, Docker) {
    constexpr const char* kFile = "/etc/docker/daemon.json";
    expect_ok(check_docker(look()));
    program("/usr/bin/dockerd");
    EXPECT_EQ(found(check_docker(look())).fix, "cgpuctl runtime configure");
    root_.file(kFile, R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"}}})");
    EXPECT_EQ(found(check_docker(look())).level, Level::problem);
    program("/usr/bin/cgpu-runtime");
    expect_ok(check_docker(look()));
    root_.file(kFile,
               R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"}}, "default-runtime": "nvidia"})");
    EXPECT_EQ(found(check_docker(look())).level, Level::problem);
    root_.file(kFile,
               R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"}, "kata": {"path": "/opt/kata"}}})");
    EXPECT_NE(found(check_docker(look())).fix.find("delete the entry"), std::string::npos);
    root_.file(kFile, "{");
    EXPECT_EQ(found(check_docker(look())).level, Level::problem);
}

TEST_F(EngineChecks, DockersFileThatAnotherProgramHasChanged) {
    program("/usr/bin/dockerd");
    program("/usr/bin/cgpu-runtime");
    program("/usr/bin/nvidia-container-runtime");
    root_.file("/etc/docker/daemon.json.before-cgpu",
               R"({"configured": {"as-nvidia": true, "default": false}})");
    root_.file("/etc/docker/daemon.json", R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"},
                                                "nvidia": {"path": "/usr/bin/nvidia-container-runtime"}}})");
    const Finding lost = found(check_docker(look()));
    EXPECT_EQ(lost.level, Level::problem);
    EXPECT_NE(lost.what.find("had set runtimes.nvidia, and another program"), std::string::npos) << lost.what;
    EXPECT_TRUE(lost.fix.starts_with("cgpuctl runtime configure --as nvidia, or ")) << lost.fix;
    EXPECT_EQ(engine_warnings(root_.at("")).size(), 1U);
    root_.file("/etc/docker/daemon.json", R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"},
                                                "nvidia": {"path": "/usr/bin/cgpu-runtime"}}})");
    expect_ok(check_docker(look()));
    EXPECT_TRUE(engine_warnings(root_.at("")).empty());

    root_.file("/etc/docker/daemon.json.before-cgpu",
               R"({"configured": {"as-nvidia": false, "default": true}})");
    for (const auto& [by_default, level] :
         std::map<std::string, Level>{{"", Level::warning},
                                      {R"(, "default-runtime": "runc")", Level::warning},
                                      {R"(, "default-runtime": "nvidia")", Level::problem}}) {
        root_.file("/etc/docker/daemon.json",
                   R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"},
                       "nvidia": {"path": "/usr/bin/nvidia-container-runtime"}})" +
                       by_default + "}");
        EXPECT_EQ(found(check_docker(look())).level, level) << by_default;
    }
}

TEST_F(EngineChecks, Swarm) {
    const auto announce = [&](const std::string& resources, const std::string& more) {
        root_.file(
            "/etc/docker/daemon.json",
            R"({"runtimes": {"cgpu": {"path": "/usr/bin/cgpu-runtime"}}, "node-generic-resources": [)" +
                resources + "]" + more + "}");
    };
    const std::string real = R"("cgpu_memory_mib=32260", "cgpu_instances=40")";
    const std::string by_default = R"(, "default-runtime": "cgpu")";
    expect_ok(check_swarm(look()));
    announce(R"("ssd=2")", "");
    expect_ok(check_swarm(look()));
    announce(real, by_default);
    expect_ok(check_swarm(look()));

    announce(R"("cgpu_memory_mib=48390", "cgpu_instances=60")", by_default);
    EXPECT_EQ(found(check_swarm(look())).why, "Swarm puts tasks here that cgpud refuses");
    EXPECT_TRUE(found(check_swarm(look())).fix.starts_with("cgpuctl swarm configure, and then "));
    announce(R"("cgpu_memory_mib=16130", "cgpu_instances=40")", by_default);
    EXPECT_EQ(found(check_swarm(look())).why, "Swarm leaves a part of the GPUs unused");
    announce(real, "");
    EXPECT_EQ(found(check_swarm(look())).fix, "cgpuctl runtime configure --default");
    announce(real, by_default + R"(, "live-restore": true)");
    EXPECT_EQ(found(check_swarm(look())).fix, "remove live-restore from the file");

    for (client::Gpu& gpu : snapshot_->gpus) gpu.present = false;
    announce(real, by_default);
    EXPECT_TRUE(found(check_swarm(look())).fix.starts_with("cgpuctl swarm configure --remove, and then "));
    snapshot_.reset();
    EXPECT_EQ(found(check_swarm(look())).level, Level::unchecked);
    root_.file("/etc/docker/daemon.json", "{");
    EXPECT_EQ(found(check_swarm(look())).level, Level::unchecked);
}

TEST_F(EngineChecks, Podman) {
    expect_ok(check_podman(look()));
    program("/usr/bin/podman");
    expect_ok(check_podman(look()));
    root_.file("/etc/containers/containers.conf", "[engine.runtimes]\ncgpu = [\"/usr/bin/cgpu-runtime\"]\n");
    EXPECT_EQ(found(check_podman(look())).level, Level::problem);
    program("/usr/bin/cgpu-runtime");
    expect_ok(check_podman(look()));
    root_.file("/etc/containers/containers.conf.d/50.conf", "[engine.runtimes]\ncgpu = [\"/opt/x\"]\n");
    EXPECT_NE(found(check_podman(look())).what.find("50.conf"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl::doctor
