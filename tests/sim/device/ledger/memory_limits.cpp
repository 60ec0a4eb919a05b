#include "tests/sim/device/ledger/memory_limits.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace simgpu {

std::uint64_t cgroup_number(const std::string& folder) {
    struct stat found {};
    return stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) ? found.st_ino : 0;
}

bool MemoryLimits::set(std::uint32_t gpu, std::uint64_t cgroup, std::uint64_t soft, std::uint64_t hard) {
    MemoryLimit* const end = limits_ + kMaxMemoryLimits;
    MemoryLimit* entry = std::find_if(
        limits_, end, [&](const auto& each) { return each.cgroup == cgroup && each.gpu == gpu; });
    const bool clears = soft == 0 && hard == kNoMemoryLimit;
    if (entry == end && clears) return true;
    if (entry == end) entry = std::find_if(limits_, end, [](const auto& each) { return each.cgroup == 0; });
    if (entry == end) return false;
    session_.journal().save(*entry);
    *entry = clears ? MemoryLimit{} : MemoryLimit{cgroup, soft, hard, gpu};
    session_.journal().commit();
    return true;
}

std::optional<MemoryLimit> MemoryLimits::nearest(std::uint32_t gpu, std::string folder) const {
    for (; folder.size() > 1; folder.erase(folder.rfind('/'))) {
        const std::uint64_t cgroup = cgroup_number(folder);
        for (std::uint32_t i = 0; cgroup != 0 && i < kMaxMemoryLimits; ++i)
            if (limits_[i].cgroup == cgroup && limits_[i].gpu == gpu) return limits_[i];
        if (folder.rfind('/') == std::string::npos) break;
    }
    return std::nullopt;
}

}  // namespace simgpu
