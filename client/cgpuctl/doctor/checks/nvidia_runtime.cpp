// Whether NVIDIA's container runtime calls its low-level runtimes by name, so that cgpu-runtime comes last.
#include <cerrno>

#include "client/cgpuctl/docker/toml.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kNvidiaRuntime = "NVIDIA's runtime";
constexpr const char* kRuntimeFile = "/etc/nvidia-container-runtime/config.toml";
constexpr const char* kFix =
    "write runtimes = [\"runc\", \"crun\"] below [nvidia-container-runtime] in the file";

}  // namespace

Findings check_nvidia_runtime(const Look& look) {
    if (!look.host.has_program("nvidia-container-runtime") && !look.host.exists(kRuntimeFile))
        return {ok(kNvidiaRuntime, "it is not installed; runc or crun makes the containers")};
    const auto [text, error] = look.host.read(kRuntimeFile);
    if (error == EACCES) return {for_root(kNvidiaRuntime, kRuntimeFile)};
    bool found = false;
    std::string names;
    for (const TomlEntry& entry : read_toml(text)) {
        if (entry.table != "nvidia-container-runtime" || entry.key != "runtimes") continue;
        for (const std::string& runtime : entry.strings) {
            names += (names.empty() ? "" : ", ") + runtime;
            if (runtime.find('/') != std::string::npos)
                return {
                    {Level::problem, kNvidiaRuntime,
                     std::string(kRuntimeFile) + ": runtimes names " + runtime + " by a path",
                     "cgpu's mounts are made before NVIDIA's last hooks, and containers with more than one "
                     "driver are refused",
                     kFix}};
            found = found || look.host.has_program(runtime);
        }
    }
    if (!names.empty() && !found)
        return {{Level::problem, kNvidiaRuntime,
                 std::string(kRuntimeFile) + ": none of " + names + " is installed",
                 "no container can be started by it", "install runc or crun"}};
    return {ok(kNvidiaRuntime, "it calls low-level runtimes by their names")};
}

}  // namespace cgpu::cgpuctl::doctor
