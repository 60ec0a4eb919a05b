#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/doctor.hpp"
#include "client/cgpuctl/doctor/report.hpp"
#include "tests/unit/client/cgpuctl/doctor/checks_bed.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

TEST_F(Checks, Service) {
    expect_ok(check_service(look()));
    snapshot_->version = "1.2.2";
    EXPECT_EQ(found(check_service(look())).level, Level::warning);
    snapshot_.reset();
    EXPECT_EQ(found(check_service(look())).what, "it is on the system bus, and does not answer");
    service_ = client::ServiceState{false, std::nullopt, "inactive", "", ""};
    EXPECT_EQ(found(check_service(look())).what, "it is not running: its unit is inactive");
    service_->failure = "its service has failed";
    EXPECT_EQ(found(check_service(look())).what, "its service has failed");
    service_->failure = "it does not start: /etc/cgpu/cgpud.yaml:1: there is no such key. Try: use policy.";
    EXPECT_EQ(found(check_service(look())).what, "it does not start");
    EXPECT_EQ(found(check_service(look())).fix, "use policy, and then systemctl restart cgpud");
    service_ = client::fail(client::ClientError::Kind::unreachable,
                            "the bus: it is gone. Try: systemctl status dbus.");
    EXPECT_EQ(found(check_service(look())).fix, "systemctl status dbus");
}

TEST_F(Checks, ConfigurationThatWasRefused) {
    snapshot_->configuration_problems = {
        {"/etc/cgpu/cgpud.yaml", 3, "cgpud.yaml:3: no such key. Try: policy.", 1}};
    const Finding finding = found(check_configuration(look()));
    EXPECT_EQ(finding.level, Level::problem);
    EXPECT_EQ(finding.what, "cgpud.yaml:3");
    EXPECT_EQ(finding.fix, "policy, and then systemctl reload cgpud");
}

TEST_F(Checks, WhatOnlyRootMayReadIsSaid) {
    const Finding finding = found(check_configuration(look(false)));
    EXPECT_EQ(finding.level, Level::unchecked);
    EXPECT_NE(finding.fix.find("as root"), std::string::npos);
}

TEST_F(Checks, DriverThatIsLoaded) {
    root_.library("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06");
    root_.link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.580.65.06");
    root_.file("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Thu\n");
    examination_->driver_version = "580.65.06";
    expect_ok(check_driver(look()));
    root_.file("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Thu\n");
    EXPECT_EQ(found(check_driver(look())).what,
              "the kernel module is 580.95.05, libcuda is 580.65.06, cgpud's libnvidia-ml is 580.65.06");
}

TEST_F(Checks, NoDriver) {
    examination_->driver_error = "GPUs of this host: no NVIDIA driver found. Try: install it.";
    const auto findings = check_driver(look());
    EXPECT_EQ(count(findings, Level::problem), 3U);  // no library, no answer, no kernel module
    examination_.reset();
    EXPECT_EQ(count(check_driver(look()), Level::problem), 1U);
    EXPECT_EQ(count(check_driver(look()), Level::unchecked), 1U);  // the module may be shown in another place
}

TEST_F(Checks, HmmOfOpenModules) {
    root_.file("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06\n");
    expect_ok(check_memory_of_the_host(look()));
    root_.file("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm", "N\n");
    EXPECT_NE(found(check_memory_of_the_host(look())).fix.find("uvm_disable_hmm=1"), std::string::npos);
}

TEST_F(Checks, MpsDaemon) {
    root_.file("/proc/12/comm", "bash\n");
    root_.file("/proc/self/comm", "nvidia-cuda-mps\n");
    expect_ok(check_mps(look()));
    root_.file("/proc/34/comm", "nvidia-cuda-mps\n");
    EXPECT_EQ(found(check_mps(look())).what, "an MPS daemon is running (pid 34)");
}

TEST_F(Checks, LimitsOfTheDriver) {
    examination_->gpus = {{kUuid0, true, {}, {"dmem", "", std::nullopt}},
                          {kUuid1, true, {}, {"dmem", "", {}}}};
    expect_ok(check_driver_limits(look()));
    EXPECT_EQ(check_driver_limits(look()).size(), 1U);
    examination_->gpus[1].limits = {"none", "the GPU is in MIG mode", std::nullopt};
    expect_ok(check_driver_limits(look()));
    EXPECT_NE(check_driver_limits(look()).back().what.find("none: the GPU is in MIG mode"),
              std::string::npos);
    examination_->gpus[0].limits.own_limit = 4096 * kMib;
    EXPECT_EQ(found(check_driver_limits(look())).what,
              "the driver limits cgpu-nvml itself to 4096MiB of GPU 0");
    examination_.reset();
    EXPECT_EQ(found(check_driver_limits(look())).level, Level::unchecked);
}

TEST_F(Checks, AGpuInAModeThatCantBeShared) {
    expect_ok(check_gpus(look()));
    snapshot_->gpus[0].obstacle = "its compute mode is EXCLUSIVE_PROCESS, which lets one process in only";
    EXPECT_EQ(found(check_gpus(look())).level, Level::warning);
    EXPECT_NE(found(check_gpus(look())).fix.find("nvidia-smi -i 0 -c DEFAULT"), std::string::npos);
    snapshot_->gpus[0].obstacle = "it is in MIG mode, and MIG instances are not shared further";
    snapshot_->gpus.resize(1);
    EXPECT_EQ(found(check_gpus(look())).level, Level::problem);
    EXPECT_NE(found(check_gpus(look())).fix.find("nvidia-smi -i 0 -mig 0"), std::string::npos);
    snapshot_->gpus.clear();
    EXPECT_EQ(found(check_gpus(look())).level, Level::problem);
    snapshot_.reset();
    EXPECT_EQ(found(check_gpus(look())).level, Level::unchecked);
}

TEST_F(Checks, ADrainedGpuIsNotForgotten) {
    snapshot_->gpus[1].drained = true;
    EXPECT_EQ(found(check_gpus(look())).level, Level::warning);
    EXPECT_EQ(found(check_gpus(look())).what, "GPU 1 is drained");
    EXPECT_EQ(found(check_gpus(look())).fix, "cgpuctl undrain 1, if it is to take instances again");
}

TEST_F(Checks, PersistenceMode) {
    examination_->gpus = {{kUuid0, true, {}}, {kUuid1, std::nullopt, {}}};
    expect_ok(check_gpus(look()));
    examination_->gpus[0].persistence = false;
    EXPECT_EQ(found(check_gpus(look())).what, "GPU 0: it is off");
}

TEST_F(Checks, AProcessOfNoInstance) {
    snapshot_->instances[0].gpus[0].usage.processes = {4711};
    snapshot_->instances[0].gpus[0].usage.processes_outside = {4712};
    examination_->gpus = {{kUuid0, true, {{4711, kMib}, {4712, kMib}}}};
    expect_ok(check_gpu_processes(look()));
    root_.file("/proc/4713/comm", "python3\n");
    examination_->gpus[0].processes.push_back({4713, 221 * kMib});
    EXPECT_EQ(found(check_gpu_processes(look())).what,
              "process 4713 (python3) uses 221MiB of GPU 0 and belongs to no instance");
    root_.folder("/proc/1");
    examination_->gpus[0].processes.push_back({4714, kMib});  // it has just ended
    EXPECT_NE(found(check_gpu_processes(look())).what.find("process 4713"), std::string::npos);
    examination_->gpus[0].processes = {{4711, kMib}};
    snapshot_->gpus[0].memory_in_driver = 1100 * kMib;
    snapshot_->gpus[0].memory_charged_then = 100 * kMib;
    expect_ok(check_gpu_processes(look()));
    snapshot_->gpus[0].memory_in_driver = 5000 * kMib;
    EXPECT_EQ(found(check_gpu_processes(look())).what,
              "4900MiB of GPU 0 are used by no process that the driver shows");
    root_.file("/proc/4713/comm", "python3\n");
    examination_->gpus[0].processes.push_back({4713, 4500 * kMib});
    EXPECT_NE(found(check_gpu_processes(look())).what.find("process 4713"), std::string::npos);
    examination_.reset();
    EXPECT_EQ(found(check_gpu_processes(look())).why, "it is old");
}

TEST_F(Checks, WhatFormerInstancesHaveLeft) {
    examination_->runtime_dir = "/run/cgpu";
    snapshot_->instances.resize(1);
    root_.folder("/run/cgpu/instances/" + std::string(kWebId));
    root_.file("/proc/12/comm", "sh\n");
    root_.file("/proc/12/mountinfo",
               "1 2 0:1 /cgpu/instances/" + std::string(kWebId) + "/link /run/cgpu/link ro - tmpfs x rw\n");
    expect_ok(check_instances(look()));
    root_.file("/proc/13/comm", "sh\n");
    root_.file("/proc/13/mountinfo",
               "1 2 0:1 /cgpu/instances/ffff//deleted /run/cgpu/link ro - tmpfs x rw\n");
    EXPECT_NE(found(check_instances(look())).fix.find("kill 13"), std::string::npos);
    root_.file("/proc/13/mountinfo", "");
    root_.folder("/run/cgpu/instances/ffff");
    EXPECT_EQ(found(check_instances(look())).what, "/run/cgpu/instances/ffff belongs to no instance");
    EXPECT_EQ(found(check_instances(look(false))).level, Level::unchecked);
}

TEST_F(Checks, AnInstanceThatHasJustEndedHasLeftNothing) {
    examination_->runtime_dir = "/run/cgpu";
    const std::string mount = "1 2 0:1 /cgpu/instances/ffff/link /run/cgpu/link ro - tmpfs x rw\n";
    root_.file("/proc/13/comm", "sh\n");
    root_.file("/proc/13/mountinfo", mount);
    root_.folder("/run/cgpu/instances/ffff");
    const Look before = look();
    EXPECT_EQ(count(check_instances(before), Level::warning), 1U) << "of folder and process, the process";
    std::filesystem::remove_all(root_.at("/run/cgpu/instances/ffff"));
    std::filesystem::remove_all(root_.at("/proc/13"));
    expect_ok(check_instances(before));
}

TEST_F(Checks, AnInstanceWithoutAWeight) {
    snapshot_->instances[0].gpus[0].quota.weight = 0;
    EXPECT_NE(found(check_instances(look())).fix.find("cgpuctl set-weight"), std::string::npos);
}

TEST_F(Checks, WhatTheFilesSayAndIsNotInForce) {
    auto differing = look();
    differing.configuration = {
        {"slice_ms", "5", "built in", "9", "/etc/cgpu/cgpud.yaml:1", "systemctl restart cgpud"}};
    const Findings findings = check_configuration(differing);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].level, Level::warning);
    EXPECT_EQ(findings[0].what, "slice_ms: /etc/cgpu/cgpud.yaml:1 says 9, which is not in force");
    EXPECT_EQ(findings[0].fix, "systemctl restart cgpud");
    // The shipped defaults are nobody's wish.
    differing.configuration[0].configured_source = "/usr/lib/cgpu/cgpud.yaml:7";
    EXPECT_NE(check_configuration(differing)[0].level, Level::warning);
}

TEST_F(Checks, NvidiasRuntimeCallsOthersByName) {
    constexpr const char* kFile = "/etc/nvidia-container-runtime/config.toml";
    expect_ok(check_nvidia_runtime(look()));
    program("/usr/bin/runc");
    root_.file(kFile, "[nvidia-container-runtime]\nruntimes = [\"docker-runc\", \"runc\", \"crun\"]\n");
    expect_ok(check_nvidia_runtime(look()));
    root_.file(kFile, "[nvidia-container-runtime]\nruntimes = [\"/usr/bin/runc\"]\n");
    EXPECT_EQ(found(check_nvidia_runtime(look())).level, Level::problem);
    root_.file(kFile, "[nvidia-container-runtime]\nruntimes = [\"crun\"]\n");
    EXPECT_EQ(found(check_nvidia_runtime(look())).fix, "install runc or crun");
}

TEST_F(Checks, StaleCdi) {
    expect_ok(check_cdi(look()));
    root_.file("/usr/lib/libcuda.so.580.65.06", "");
    root_.file("/etc/cdi/nvidia.yaml", "mounts:\n- hostPath: /usr/lib/libcuda.so.580.65.06\n");
    expect_ok(check_cdi(look()));
    root_.file(
        "/var/run/cdi/nvidia.json",
        R"({"mounts": [{"hostPath": "/usr/lib/libcuda.so.550.1"}, {"hostPath": "/usr/lib/libnvidia-ml.so.550.1"}]})");
    const Finding finding = found(check_cdi(look()));
    EXPECT_EQ(finding.what,
              "/var/run/cdi/nvidia.json is stale: it names /usr/lib/libcuda.so.550.1 and 1 other file, "
              "which do not exist");
    EXPECT_NE(finding.fix.find("nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.json"),
              std::string::npos);
}

TEST_F(Checks, StalePartsOfGpus) {
    const auto spec = [this](const std::string& uuid) {
        root_.file("/etc/cdi/cgpu.json", R"({"kind": "cgpu.org/gpu", "devices": [{"name": "0-half",
            "containerEdits": {"env": ["CGPU_COMPUTE=50%", "CGPU_GPUS=)" +
                                             uuid + R"("]}}]})");
    };
    spec(kUuid0);
    Look with_gpus = look();
    with_gpus.snapshot = two_gpus();
    expect_ok(check_cdi(with_gpus));
    spec("GPU-99999999-0000-0000-0000-000000000000");
    const Finding finding = found(check_cdi(with_gpus));
    EXPECT_EQ(finding.what,
              "/etc/cdi/cgpu.json is stale: it describes parts of "
              "GPU-99999999-0000-0000-0000-000000000000, which is not in this node");
    EXPECT_EQ(finding.fix, "cgpuctl cdi generate --output /etc/cdi/cgpu.json");
    with_gpus.snapshot.reset();
    expect_ok(check_cdi(with_gpus));
}

TEST_F(Checks, ThePolicyOfPolkitThatIsInstalled) {
    EXPECT_EQ(found(check_polkit(look())).level, Level::problem);
    std::ifstream file(CGPU_TEST_POLICY);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    root_.file("/usr/share/polkit-1/actions/org.cgpu1.policy", text);
    expect_ok(check_polkit(look()));
    root_.file("/usr/share/polkit-1/actions/org.cgpu1.policy", text.substr(0, text.size() / 2));
    EXPECT_EQ(found(check_polkit(look())).level, Level::problem);
}

TEST_F(Checks, Cgroups) {
    EXPECT_EQ(found(check_cgroups(look())).level, Level::warning);
    root_.folder("/sys/fs/cgroup/memory");
    expect_ok(check_cgroups(look()));
    root_.file("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    expect_ok(check_cgroups(look()));
}

TEST_F(Checks, FoldersThatCantBeWritten) {
    examination_->state_dir = "/state";
    examination_->runtime_dir = "/run";
    root_.folder("/run");
    EXPECT_EQ(found(check_folders(look())).what, "/state: No such file or directory");
    root_.folder("/state");
    expect_ok(check_folders(look()));
    service_->uid = 12345;
    chmod(root_.at("/state").c_str(), 0755);
    chmod(root_.at("/run").c_str(), 0777);
    EXPECT_NE(found(check_folders(look())).what.find("as user 12345"), std::string::npos);
}

TEST_F(Checks, WhatCgpudHasSetAside) {
    examination_->state_dir = "/state";
    examination_->runtime_dir = "/run";
    root_.folder("/state");
    root_.folder("/run");
    for (const char* name : {"/state/state.json.damaged", "/state/state.json.former",
                             "/state/history.damaged", "/run/leases.damaged"}) {
        root_.file(name, "x");
        EXPECT_EQ(found(check_folders(look())).what, std::string(name) + " is there");
        std::filesystem::remove(root_.at(name));
    }
    expect_ok(check_folders(look()));
}

TEST(Report, NamesEachFindingAndCountsThem) {
    const Findings findings = {
        ok("a", "good"), for_root("bc", "more"), {Level::problem, "d", "bad\033[0m", "harm", "mend"}};
    Screen screen;
    auto terminal = screen.terminal();
    print(findings, false, terminal);
    EXPECT_EQ(screen.out.str(),
              "ok         a   good\n"
              "unchecked  bc  more\n"
              "               why: only root may read this\n"
              "               try: run cgpuctl doctor as root (sudo)\n"
              "problem    d   bad?[0m\n"
              "               why: harm\n"
              "               try: mend\n"
              "3 findings: 1 ok, 0 warnings, 1 problem, 1 not checked\n");
    const auto json = to_json(findings);
    EXPECT_EQ(json.at("problems"), 1);
    EXPECT_EQ(json.at("not_checked"), 1);
    EXPECT_EQ(json.at("findings").at(2).at("fix"), "mend");
    EXPECT_EQ(json.at("findings").at(1).at("level"), "not_checked");
}

TEST(DoctorVerb, FailsIfThereIsAProblem) {
    FakeNode node;
    node.service_state = {false, std::nullopt, "inactive", "", ""};
    Screen screen;
    auto terminal = screen.terminal();
    Input input;
    input.json = true;
    const auto done = doctor_verb(input, node, terminal);
    ASSERT_FALSE(done);
    EXPECT_EQ(client::exit_code(done.error().kind), 1);
    const auto json = nlohmann::json::parse(screen.out.str());
    EXPECT_EQ(json.at("findings").at(0).at("what"), "it is not running: its unit is inactive");
    EXPECT_TRUE(node.calls.empty());
}

}  // namespace
}  // namespace cgpu::cgpuctl::doctor
