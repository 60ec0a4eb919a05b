// Limits of memory that NVIDIA's driver itself can hold cgroups to. cgpu doesn't use them, but others may.
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kLimits = "driver's limits";
constexpr const char* kQuestion = "whether the driver could limit memory itself";

}  // namespace

Findings check_driver_limits(const Look& look) {
    if (!look.snapshot || !look.examination)
        return {unchecked(kLimits, kQuestion, look.snapshot ? look.no_examination : kNoDaemon)};
    Findings findings;
    std::string last;
    for (const client::ExaminedGpu& gpu : look.examination->gpus) {
        const std::string name = gpu_name(*look.snapshot, gpu.uuid);
        if (gpu.limits.own_limit)
            findings.push_back(
                {Level::warning, kLimits,
                 "the driver limits cgpu-nvml itself to " + size_text(*gpu.limits.own_limit) + " of " + name,
                 "it shows cgpud a smaller card, and the rest is granted to nobody",
                 "take the limit from cgpu-nvml's cgroup, or from the one above that has it (nvidia-smi "
                 "memory-limits), and then systemctl restart cgpud"});
        // They differ where one of the cards is in MIG mode.
        const std::string text = limits_text(gpu.limits);
        if (last.empty())
            findings.push_back(ok(kLimits, text));
        else if (text != last)
            findings.push_back(ok(kLimits, std::string(name).append(": ").append(text)));
        last = text;
    }
    if (last.empty()) return {unchecked(kLimits, kQuestion, "the driver shows no GPU")};
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
