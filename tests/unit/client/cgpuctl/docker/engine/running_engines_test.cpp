#include <array>
#include <csignal>
#include <filesystem>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "client/cgpuctl/docker/containerd/containerd_start.hpp"
#include "client/cgpuctl/docker/engine/docker_file.hpp"
#include "client/cgpuctl/docker/engine/docker_info.hpp"
#include "client/cgpuctl/docker/engine/docker_start.hpp"
#include "client/cgpuctl/docker/engine/running_docker.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::cgpuctl {
namespace {

using Words = std::vector<std::string>;

TEST(DockerFlagsTest, BothFormsOfAFlagAreRead) {
    const DockerFlags flags =
        docker_flags({"/usr/bin/dockerd", "--add-runtime", "nvidia=/usr/bin/nvidia",
                      "--add-runtime=kata=/opt/kata", "--default-runtime=nvidia", "-H", "fd://",
                      "-Hunix:///a.sock", "--host=tcp://0.0.0.0:2375", "--config-file", "/snap/daemon.json"});
    EXPECT_EQ(flags.runtimes,
              (std::map<std::string, std::string>{{"nvidia", "/usr/bin/nvidia"}, {"kata", "/opt/kata"}}));
    EXPECT_EQ(flags.default_runtime, "nvidia");
    EXPECT_EQ(flags.hosts, (Words{"fd://", "unix:///a.sock", "tcp://0.0.0.0:2375"}));
    EXPECT_EQ(flags.config_file, "/snap/daemon.json");
    EXPECT_EQ(docker_flags({"dockerd", "--data-root", "/d", "--debug"}), DockerFlags{});
    EXPECT_EQ(docker_flags({"dockerd", "--config-file"}), DockerFlags{}) << "a value is missing";
}

TEST(DockerFlagsTest, ResourcesOfANodeAreSeen) {
    EXPECT_TRUE(docker_flags({"dockerd", "--node-generic-resource", "NVIDIA-GPU=GPU-1"}).generic_resources);
    EXPECT_TRUE(docker_flags({"dockerd", "--node-generic-resource=ssd=2"}).generic_resources);
    EXPECT_FALSE(docker_flags({"dockerd", "--node-generic-resources"}).generic_resources);
}

TEST(DockerFileTest, IsTheOneThatTheRunningDockerdReads) {
    const auto docker = [](int pid, const std::string& file) {
        RunningDocker one{};
        one.process.pid = pid;
        one.file = file;
        return one;
    };
    const RunningDocker snap = docker(7, "/var/snap/docker/daemon.json");
    const RunningDocker other = docker(8, "/srv/daemon.json");
    EXPECT_EQ(find_docker_file("swarm", "", {})->file, kDockerFile);
    const auto only = find_docker_file("swarm", "", {snap});
    EXPECT_EQ(only->file, snap.file);
    ASSERT_TRUE(only->docker);
    EXPECT_EQ(only->docker->process.pid, 7);
    const auto named = find_docker_file("swarm", "/nowhere/a.json", {snap});
    EXPECT_EQ(named->file, "/nowhere/a.json");
    EXPECT_FALSE(named->docker) << "none that runs reads it";
    EXPECT_EQ(find_docker_file("swarm", "/srv/daemon.json", {snap, other})->docker->process.pid, 8);
    const auto several = find_docker_file("swarm", "", {snap, other});
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().text,
              "swarm: several dockerds run, and none of them reads /etc/docker/daemon.json. Try: --file with "
              "the one that is meant: /var/snap/docker/daemon.json, /srv/daemon.json.");
}

TEST(DockerSocketsTest, AreThoseOfItsHosts) {
    EXPECT_EQ(docker_sockets({}), Words{"/run/docker.sock"});
    EXPECT_EQ(docker_sockets({"fd://", "unix:///run/docker.sock"}), Words{"/run/docker.sock"});
    EXPECT_EQ(docker_sockets({"tcp://0.0.0.0:2375"}), Words{});
    EXPECT_EQ(docker_sockets({"unix:///a", "fd://"}), (Words{"/a", "/run/docker.sock"}));
}

TEST(DockerInfoTest, OnlyAnAnswerWithRuntimesIsOne) {
    const auto info = read_docker_info(
        R"({"DefaultRuntime":"runc","Runtimes":{"cgpu":{"path":"/usr/bin/cgpu-runtime"},"runc":{}},"ID":7})");
    ASSERT_TRUE(info);
    EXPECT_EQ(info->runtimes.at("cgpu"), "/usr/bin/cgpu-runtime");
    EXPECT_EQ(to_text(*info), "runtimes cgpu, runc; default runc");
    for (const char* other : {"", "{", "[]", "null", R"({"message":"page not found"})", R"({"Runtimes":[]})"})
        EXPECT_FALSE(read_docker_info(other)) << other;
}

std::string no_file(const std::string&) { return {}; }

TEST(DockerUnitTest, ItsFlagsHaveTheVariablesOfItsFiles) {
    const auto read = [](const std::string& file) -> std::string {
        if (file != "/etc/default/docker") return {};
        return "# options\nDOCKER_OPTS=\"--add-runtime nvidia=/usr/bin/nvidia-container-runtime "
               "--icc=false\"\n";
    };
    const char* const shown =
        "ExecStart={ path=/usr/sbin/dockerd ; argv[]=/usr/sbin/dockerd -H fd:// $DOCKER_OPTS ${STORAGE} "
        "$NONE ; "
        "ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\n"
        "Environment=A=b \"STORAGE=--default-runtime nvidia\"\n"
        "EnvironmentFiles=/etc/default/docker (ignore_errors=yes)\n";
    const DockerFlags flags = flags_of_unit(shown, read);
    EXPECT_EQ(flags.runtimes.at("nvidia"), "/usr/bin/nvidia-container-runtime");
    EXPECT_EQ(flags.default_runtime, "nvidia");
    EXPECT_EQ(flags.hosts, Words{"fd://"});
    EXPECT_EQ(flags_of_unit("", no_file), DockerFlags{});
}

/// A /proc with processes of this user.
struct RunningEngines : testing::Test {
    RunningEngines() {
        for (const char* name : {"pid", "user"}) folder.link("/proc/self/ns/" + std::string(name), name);
    }
    void process(int pid, const std::string& name, const Words& words, const std::string& pids = "pid",
                 const std::string& users = "user") const {
        const std::string at = "/proc/" + std::to_string(pid);
        std::string line;
        for (const std::string& word : words) line += word + '\0';
        folder.file(at + "/comm", name + "\n");
        folder.file(at + "/cmdline", line);
        folder.file(at + "/status", ids_of(geteuid(), geteuid()));
        folder.link(at + "/ns/pid", pids);
        folder.link(at + "/ns/user", users);
        folder.link(at + "/cwd", "/srv");
    }
    static std::string ids_of(uid_t real, uid_t effective) {
        const std::string rest = "\t" + std::to_string(effective);
        return "Name:\tdockerd\nUid:\t" + std::to_string(real) + rest + rest + rest + "\nGid:\t0\t0\t0\t0\n";
    }
    client::TempRoot folder;
    std::string proc = folder.at("/proc");
};

// Found in a reading: the folder of a process that isn't dumpable is root's, whoever runs it, and the file
// that such a "dockerd" names would have been written by root.
TEST_F(RunningEngines, OnlyTheCallersOwnProcessesAre) {
    const uid_t other = geteuid() + 1;
    process(7, "dockerd", {"dockerd", "--config-file=/etc/cron.d/x"});
    for (const std::string& status :
         {ids_of(other, other), ids_of(other, geteuid()), ids_of(geteuid(), other), std::string(),
          std::string("Uid:\t0\n"), std::string("Uid:\n")}) {
        folder.file("/proc/7/status", status);
        EXPECT_TRUE(running_dockers(proc).empty()) << status;
    }
}

TEST(EngineProcesses, OneThatIsntDumpableIsItsUsersAllTheSame) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool done = setresuid(65534, 65534, 65534) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
                          prctl(PR_SET_NAME, "dockerd") == 0;
        if (write(ready[1], done ? "y" : "n", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char answer = 'n';
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    for (const EngineProcess& each : engine_processes("dockerd", "/proc")) EXPECT_NE(each.pid, child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const int end : ready) close(end);
}

TEST_F(RunningEngines, ADockerdHasTheFileOfItsFlags) {
    process(30, "dockerd", {"dockerd", "--config-file=daemon.json"});
    process(7, "dockerd", {"/usr/bin/dockerd"});
    process(8, "docker", {"docker", "--config-file=/x"});
    process(9, "dockerd", {"dockerd"}, "pid of a container");
    process(10, "dockerd", {"dockerd"}, "pid", "users of a container");
    const auto all = running_dockers(proc);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name(), "dockerd (pid 7)");
    EXPECT_EQ(all[0].file, "/etc/docker/daemon.json");
    EXPECT_EQ(all[1].file, "/srv/daemon.json");
}

TEST_F(RunningEngines, ARootlessDockerdReadsItsUsersFile) {
    process(7, "dockerd", {"dockerd", "--rootless"}, "pid", "its own users");
    using namespace std::string_literals;
    folder.file("/proc/7/environ", "HOME=/home/a\0XDG_RUNTIME_DIR=/run/user/1\0"s);
    ASSERT_EQ(running_dockers(proc).size(), 1U);
    EXPECT_EQ(running_dockers(proc)[0].file, "/home/a/.config/docker/daemon.json");
    folder.file("/proc/7/environ", "HOME=/home/a\0XDG_CONFIG_HOME=/conf\0"s);
    EXPECT_EQ(running_dockers(proc)[0].file, "/conf/docker/daemon.json");
}

TEST_F(RunningEngines, AContainerdOfDockersOwnIsNone) {
    process(5, "containerd", {"containerd", "--config", "/var/run/docker/containerd/containerd.toml"});
    process(6, "containerd", {"/usr/bin/containerd"});
    process(7, "containerd", {"containerd", "--config=/var/snap/microk8s/current/args/containerd.toml"});
    process(8, "containerd-shim", {"containerd-shim-runc-v2", "-c", "/x"});
    const auto all = running_containerds(proc);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].file, kContainerdFile);
    EXPECT_EQ(all[1].file, "/var/snap/microk8s/current/args/containerd.toml");
}

// A snap has /usr of another image.
TEST_F(RunningEngines, WhatAnEngineWithMountsOfItsOwnSees) {
    process(7, "dockerd", {"dockerd"});
    const std::string program = folder.at("/usr/bin/cgpu-runtime");
    folder.file("/usr/bin/cgpu-runtime", "");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::filesystem::create_directory_symlink("/", folder.at("/proc/7/root"));
    const auto same = engine_processes("dockerd", proc).at(0);
    EXPECT_TRUE(same.sees(program, true));
    EXPECT_TRUE(same.sees(folder.at("/etc/none.json"), false)) << "it is nowhere";
    EXPECT_FALSE(same.sees(folder.at("/etc/none.json"), true));
    std::filesystem::remove(folder.at("/proc/7/root"));
    folder.file("/proc/7/root/etc/issue", "");
    EXPECT_FALSE(engine_processes("dockerd", proc).at(0).sees(program, true));
}

// What is written into such a file is lost at the next start.
TEST_F(RunningEngines, AFileThatIsMadeOfAnotherOneAtEachStart) {
    EXPECT_EQ(source_of(kContainerdFile), "");
    EXPECT_EQ(source_of("/var/lib/rancher/k3s/agent/etc/containerd/config.toml"),
              "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl");
    folder.file("/args/containerd.toml", "");
    EXPECT_EQ(source_of(folder.at("/args/containerd.toml")), "");
    folder.file("/args/containerd-template.toml", "");
    EXPECT_EQ(source_of(folder.at("/args/containerd.toml")), folder.at("/args/containerd-template.toml"));
    EXPECT_EQ(source_of(folder.at("/args/containerd-template.toml")), "");
}

}  // namespace
}  // namespace cgpu::cgpuctl
