#include "daemon/app/ports/pid_place.hpp"

namespace cgpu::app {

std::optional<std::int32_t> pid_seen_from(const PidPlace& asker, const PidPlace& process) {
    if (asker.pids.empty() || process.pids.size() < asker.pids.size()) return std::nullopt;
    const auto level = asker.pids.size() - 1;
    const auto its = process.inits[level];
    const auto own = asker.inits[level];
    if (its != own && its != 0 && own != 0) return std::nullopt;
    return process.pids[level];
}

}  // namespace cgpu::app
