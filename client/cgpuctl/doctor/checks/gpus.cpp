// Whether each GPU can be shared, and who uses it.
#include <algorithm>
#include <set>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/warnings.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kGpus = "GPUs";

/// A driver may take some for itself.
constexpr std::uint64_t kMuchOfNobody = std::uint64_t{1} << 30;

/// What ends the obstacle that cgpud names.
std::string fix_of(const client::Gpu& gpu) {
    const std::string index = std::to_string(gpu.index);
    if (gpu.obstacle.find("MIG") != std::string::npos)
        return "nvidia-smi -i " + index + " -mig 0, if it is to be shared";
    if (gpu.obstacle.find("MPS server") != std::string::npos)
        return "echo quit | nvidia-cuda-mps-control, as the user who started it, if it is to be shared";
    if (gpu.obstacle.find("compute mode") != std::string::npos)
        return "nvidia-smi -i " + index + " -c DEFAULT, if it is to be shared";
    return "nvidia-smi -q -i " + index + ", and dmesg";
}

bool is_of_an_instance(const client::Snapshot& snapshot, std::uint32_t pid) {
    const auto has = [&](const client::Usage& usage) {
        return std::ranges::count(usage.processes, pid) + std::ranges::count(usage.processes_outside, pid) >
               0;
    };
    return std::ranges::any_of(snapshot.instances, [&](const client::Instance& instance) {
        return instance.pid == pid ||
               std::ranges::any_of(instance.gpus, [&](const auto& place) { return has(place.usage); }) ||
               std::ranges::any_of(instance.foreign_gpus,
                                   [&](const auto& foreign) { return has(foreign.usage); });
    });
}

/// As far as /proc shows processes of others at all.
bool has_ended(const Host& host, const std::string& pid) {
    return host.exists("/proc/1") && !host.exists("/proc/" + pid);
}

/// What is used of the card beside its instances and all processes that the driver shows.
std::uint64_t bytes_of_nobody(const client::Snapshot& snapshot, const client::Gpu& gpu,
                              const client::ExaminedGpu& examined) {
    std::uint64_t shown = gpu.memory_charged_then;
    for (const client::GpuProcess& process : examined.processes)
        if (!is_of_an_instance(snapshot, process.pid)) shown += process.bytes;
    const auto used = gpu.memory_in_driver.value_or(0);
    return used - std::min(used, shown);
}

Findings check_persistence(const Look& look) {
    constexpr const char* kPersistence = "persistence mode";
    Findings findings;
    bool known = false;
    for (const client::ExaminedGpu& gpu : look.examination->gpus) {
        known = known || gpu.persistence.has_value();
        if (gpu.persistence.value_or(true)) continue;
        findings.push_back({Level::warning, kPersistence, gpu_name(*look.snapshot, gpu.uuid) + ": it is off",
                            "the driver puts the GPU away when its last user ends, and the next start takes "
                            "seconds; only cgpud keeps it awake",
                            "systemctl enable --now nvidia-persistenced, or nvidia-smi -pm 1"});
    }
    if (findings.empty() && known) findings.push_back(ok(kPersistence, "it is on"));
    return findings;
}

}  // namespace

std::string gpu_name(const client::Snapshot& snapshot, const std::string& uuid) {
    for (const client::Gpu& gpu : snapshot.gpus)
        if (gpu.uuid == uuid && gpu.present) return "GPU " + std::to_string(gpu.index);
    return "GPU " + uuid;
}

Findings check_gpus(const Look& look) {
    if (!look.snapshot) return {unchecked(kGpus, "whether they can be shared", kNoDaemon)};
    const auto& gpus = look.snapshot->gpus;
    if (gpus.empty())
        return {{Level::problem, kGpus, "the driver shows none", "there is nothing to share",
                 "nvidia-smi, and then journalctl -u cgpud"}};
    // A node that has a GPU in another mode on purpose works all the same.
    const auto usable = std::ranges::count_if(
        gpus, [](const client::Gpu& gpu) { return gpu.present && gpu.obstacle.empty(); });
    const Level level = usable == 0 ? Level::problem : Level::warning;
    Findings findings;
    for (const client::Gpu& gpu : gpus) {
        // A GPU in another mode may be meant so; one that is lost isn't.
        if (!gpu.present)
            findings.push_back({Level::problem, kGpus,
                                "GPU " + std::to_string(gpu.index) + " (" + gpu.uuid +
                                    ") is lost: the driver no longer shows it",
                                gpu.obstacle.empty() ? "no instance is put on it" : gpu.obstacle,
                                "nvidia-smi, and dmesg"});
        else if (!gpu.obstacle.empty())
            findings.push_back({level, kGpus, "GPU " + std::to_string(gpu.index) + " takes no instance",
                                gpu.obstacle, fix_of(gpu)});
        if (gpu.drained)
            findings.push_back({Level::warning, kGpus, "GPU " + std::to_string(gpu.index) + " is drained",
                                "an administrator has drained it: it takes no new instance",
                                "cgpuctl undrain " + (gpu.present ? std::to_string(gpu.index) : gpu.uuid) +
                                    ", if it is to take instances again"});
        if (gpu.xid_errors > 0)
            findings.push_back(
                {Level::warning, kGpus,
                 "GPU " + std::to_string(gpu.index) + " has reported " + std::to_string(gpu.xid_errors) +
                     " errors since cgpud was started, the last one Xid " + std::to_string(gpu.last_xid),
                 "an application, the driver or the card is faulty",
                 "journalctl -u cgpud -g Xid, and look the number up in NVIDIA's Xid catalogue"});
    }
    if (usable > 0)
        findings.insert(findings.begin(), ok(kGpus, std::to_string(usable) + " of " +
                                                        std::to_string(gpus.size()) + " can be shared"));
    for (const std::string& warning : mode_warnings(*look.snapshot))
        findings.push_back(from_message(Level::warning, kGpus, warning));
    if (look.examination)
        for (Finding& finding : check_persistence(look)) findings.push_back(std::move(finding));
    return findings;
}

Findings check_gpu_processes(const Look& look) {
    constexpr const char* kProcesses = "processes";
    if (!look.snapshot || !look.examination)
        return {unchecked(kProcesses, "who uses the GPUs",
                          look.snapshot ? look.no_examination : std::string(kNoDaemon))};
    Findings findings;
    for (const client::ExaminedGpu& gpu : look.examination->gpus)
        for (const client::GpuProcess& process : gpu.processes) {
            const std::string pid = std::to_string(process.pid);
            if (is_of_an_instance(*look.snapshot, process.pid) || has_ended(look.host, pid)) continue;
            std::string comm = look.host.read("/proc/" + pid + "/comm").text;
            comm.erase(std::min(comm.find('\n'), comm.size()));
            findings.push_back(
                {Level::warning, kProcesses,
                 "process " + pid + (comm.empty() ? "" : " (" + comm + ")") + " uses " +
                     size_text(process.bytes) + " of " + gpu_name(*look.snapshot, gpu.uuid) +
                     " and belongs to no instance",
                 "nothing limits it, and instances may be granted memory that it occupies",
                 "start it by cgpuctl run or docker run --runtime=cgpu, or end it (kill " + pid + ")"});
        }
    for (const client::ExaminedGpu& examined : look.examination->gpus)
        for (const client::Gpu& gpu : look.snapshot->gpus) {
            const auto bytes = bytes_of_nobody(*look.snapshot, gpu, examined);
            if (gpu.uuid != examined.uuid || bytes < kMuchOfNobody) continue;
            findings.push_back(
                {Level::warning, kProcesses,
                 size_text(bytes) + " of " + gpu_name(*look.snapshot, gpu.uuid) +
                     " are used by no process that the driver shows",
                 "a process may hold the descriptor of memory that another one exported and left: nobody is "
                 "charged for it, and instances may be granted it",
                 "fuser -v /dev/nvidia*, and end the processes that are of no instance; after the end of a "
                 "job, look again in ten seconds"});
        }
    if (findings.empty()) return {ok(kProcesses, "every process on a GPU belongs to an instance")};
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
