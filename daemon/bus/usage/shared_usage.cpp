#include "daemon/bus/usage/shared_usage.hpp"

#include <map>
#include <utility>

namespace cgpu::bus {

SharedUsage::Aged SharedUsage::usage() {
    const app::Nanos now = loop_.now();
    app::NodeUsage current = read_();
    if (taken_ && now - *taken_ < kRenewedAfter) {
        take_over(current);
    } else {
        usage_ = std::move(current);
        taken_ = now;
    }
    return {usage_, now - *taken_};
}

/// What isn't the course of anybody's work.
void SharedUsage::take_over(const app::NodeUsage& now) {
    for (const auto& [gpu, current] : now.gpus) {
        app::GpuUsage& shown = usage_.gpus.try_emplace(gpu, current).first->second;
        shown.xid_errors = current.xid_errors;
        shown.last_xid = current.last_xid;
    }
    std::erase_if(usage_.instances, [&](const auto& each) { return !now.instances.contains(each.first); });
    for (const auto& [id, places] : now.instances) {
        auto& shown = usage_.instances[id];
        std::erase_if(shown, [&its = places](const auto& each) { return !its.contains(each.first); });
        for (const auto& [gpu, current] : places)
            shown.try_emplace(gpu, current).first->second.memory_limit = current.memory_limit;
    }
}

}  // namespace cgpu::bus
