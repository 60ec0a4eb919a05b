// Prints the processes that NVML lists on each device, one a line. The program makes no context, so it is
// never one of them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/nvml.h"

namespace {

using programs::say;

/// Returns the bytes by pid. Where the list is not available, it is empty, and a line says so.
template <class Info>
std::map<unsigned, unsigned long long> list(const std::string& what, nvmlDevice_t device,
                                            nvmlReturn_t (*get)(nvmlDevice_t, unsigned*, Info*)) {
    std::vector<Info> infos;
    nvmlReturn_t result = NVML_SUCCESS;
    unsigned count = 0;
    while ((result = get(device, &count, infos.data())) == NVML_ERROR_INSUFFICIENT_SIZE)
        infos.resize(count = std::max(count, static_cast<unsigned>(infos.size()) + 1));
    if (result != NVML_SUCCESS) {
        say(what + "_error", nvmlErrorString(result));
        return {};
    }
    std::map<unsigned, unsigned long long> all;
    for (unsigned i = 0; i < count; ++i) all[infos[i].pid] = infos[i].usedGpuMemory;
    return all;
}

void print_utilization(const std::string& what, nvmlDevice_t device) {
    unsigned count = 0;
    std::vector<nvmlProcessUtilizationSample_t> samples;
    while (nvmlDeviceGetProcessUtilization(device, samples.data(), &count, 0) == NVML_ERROR_INSUFFICIENT_SIZE)
        samples.resize(count = std::max(count, static_cast<unsigned>(samples.size()) + 1));
    samples.resize(std::min<std::size_t>(count, samples.size()));
    for (const auto& sample : samples)
        say(what, std::to_string(sample.pid) + " " + std::to_string(sample.smUtil));
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Prints 'device.<n>.process PID BYTES' for each process that NVML lists there, the same in all "
        "versions of the\n"
        "list (else 'device.<n>.versions differ'), and 'device.<n>.utilization PID PERCENT'");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (const auto result = nvmlInit_v2(); result != NVML_SUCCESS) {
        say("nvml_error", nvmlErrorString(result));
        return 1;
    }
    unsigned count = 0;
    nvmlDeviceGetCount_v2(&count);
    for (unsigned i = 0; i < count; ++i) {
        const std::string prefix = "device." + std::to_string(i) + ".";
        nvmlDevice_t device = nullptr;
        if (nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_SUCCESS) continue;
        const auto processes = list(prefix + "v3", device, nvmlDeviceGetComputeRunningProcesses_v3);
        if (list(prefix + "v1", device, nvmlDeviceGetComputeRunningProcesses) != processes ||
            list(prefix + "v2", device, nvmlDeviceGetComputeRunningProcesses_v2) != processes)
            say(prefix + "versions", "differ");
        for (const auto& [pid, bytes] : processes)
            say(prefix + "process", std::to_string(pid) + " " + std::to_string(bytes));
        print_utilization(prefix + "utilization", device);
    }
    return 0;
}
