#include "client/cgpuctl/doctor/facts/host_memory.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kHostMemoryFact = "HMM and ATS";
constexpr const char* kEffect =
    "the GPU can read the host's pageable memory, which moves to the card without being charged to anybody";

std::string fix(const std::string& parameter) {
    return "echo 'options nvidia_uvm " + parameter +
           "' >/etc/modprobe.d/cgpu-uvm.conf, end all jobs, and reload nvidia_uvm (or reboot)";
}

}  // namespace

Finding judge_host_memory(const HostMemory& memory) {
    if (!memory.uvm_loaded) return ok(kHostMemoryFact, "nvidia_uvm is not loaded");
    if (memory.open_modules && memory.disable_hmm.starts_with('N'))
        return {Level::warning, kHostMemoryFact, "HMM is not turned off", kEffect, fix("uvm_disable_hmm=1")};
    if (!memory.x86 && !memory.ats_mode.empty() && !memory.ats_mode.starts_with('0'))
        return {Level::warning, kHostMemoryFact, "ATS is not turned off", kEffect, fix("uvm_ats_mode=0")};
    return ok(kHostMemoryFact, "the GPUs can't read pageable memory of the host");
}

}  // namespace cgpu::cgpuctl::doctor
