// The driver: its parts, and its features that matter for sharing.
#include <sys/utsname.h>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/facts/driver_version.hpp"
#include "client/cgpuctl/doctor/facts/host_memory.hpp"
#include "client/run/driver/driver_files.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kDriver = "driver";
constexpr const char* kVersionFile = "/proc/driver/nvidia/version";

}  // namespace

Findings check_driver(const Look& look) {
    DriverVersions versions;
    const auto module = read_kernel_module(look.host.read(kVersionFile).text);
    if (module) versions.kernel = module->version;
    const auto libraries = client::find_driver(look.host.root(), {});
    if (libraries) versions.library = version_of_library(libraries->libraries.front().real.path);
    if (look.examination) versions.nvml = look.examination->driver_version;
    const bool works = look.examination && look.examination->driver_error.empty();
    Findings findings;
    if (!libraries) findings.push_back(from_message(Level::problem, kDriver, libraries.error().text));
    if (libraries)
        for (const std::string& sentence : libraries->uncovered)
            findings.push_back(from_message(Level::warning, kDriver, sentence));
    if (look.examination && !works)
        findings.push_back(from_message(Level::problem, kDriver, look.examination->driver_error));
    // NVML can't work without a kernel module, so one that isn't shown here is in another place.
    if (!module && !look.examination)
        findings.push_back(unchecked(kDriver, "whether its kernel module is loaded",
                                     std::string(kVersionFile) + " is not there, and " + kNoDaemon));
    else if (!module && !works)
        findings.push_back({Level::problem, kDriver, "its kernel module is not loaded",
                            "no program can use a GPU", "modprobe nvidia, and dmesg if that fails"});
    if (versions.kernel.empty() && versions.library.empty() && versions.nvml.empty()) return findings;
    for (Finding& finding : judge_driver(versions))
        if (finding.level != Level::ok || findings.empty()) findings.push_back(std::move(finding));
    return findings;
}

Findings check_memory_of_the_host(const Look& look) {
    utsname system{};
    uname(&system);
    const auto module = read_kernel_module(look.host.read(kVersionFile).text);
    const std::string parameters = "/sys/module/nvidia_uvm/parameters/";
    return {judge_host_memory(HostMemory{look.host.exists("/sys/module/nvidia_uvm"), module && module->open,
                                         look.host.read(parameters + "uvm_disable_hmm").text,
                                         look.host.read(parameters + "uvm_ats_mode").text,
                                         std::string_view(system.machine) == "x86_64"})};
}

Findings check_mps(const Look& look) {
    for (const Host::Process& process : look.host.processes())
        if (process.name.starts_with("nvidia-cuda-mps"))
            return {
                {Level::warning, "MPS", "an MPS daemon is running (pid " + std::to_string(process.pid) + ")",
                 "programs that reach it share one context on the card, whose memory and time can't be told "
                 "apart by the driver's figures",
                 "echo quit | nvidia-cuda-mps-control, as the user who started it"}};
    return {ok("MPS", "no MPS daemon is running")};
}

}  // namespace cgpu::cgpuctl::doctor
