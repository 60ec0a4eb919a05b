#pragma once

#include <string>

#include "client/cgpuctl/doctor/base/finding.hpp"

namespace cgpu::cgpuctl::doctor {

/// What decides whether GPUs can read the host's pageable memory (HMM, ATS): it then moves to the card
/// without any call that the module could charge.
struct HostMemory {
    bool uvm_loaded = false;
    bool open_modules = false;  ///< only NVIDIA's open kernel modules have HMM
    std::string disable_hmm;    ///< the text of nvidia_uvm's parameter uvm_disable_hmm: `N`; empty: none
    std::string ats_mode;       ///< of uvm_ats_mode: `1`
    bool x86 = true;            ///< no such machine has ATS
};

[[nodiscard]] Finding judge_host_memory(const HostMemory& memory);

}  // namespace cgpu::cgpuctl::doctor
