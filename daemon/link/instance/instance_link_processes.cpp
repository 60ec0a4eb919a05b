// Which processes an instance has on a GPU, as one of its processes may see them.
#include <algorithm>

#include "daemon/link/instance/instance_link.hpp"

namespace cgpu::link {

std::vector<wire::ProcessUse> InstanceLink::uses_seen_by(const Connection& connection, std::uint32_t gpu) {
    std::vector<wire::ProcessUse> uses;
    const auto asker = peers_.place_of(connection.process());
    for (const auto& [process, bytes] : outside_.leases.holders(lease_key(connection, gpu).pool))
        if (const auto pid = app::pid_seen_from(asker, peers_.place_of(process)))
            uses.push_back({static_cast<std::uint32_t>(*pid), 0, bytes});
    std::ranges::sort(uses, {}, &wire::ProcessUse::pid);
    return uses;
}

void InstanceLink::list_processes(Connection& connection, const wire::AskProcesses& ask) {
    auto message = wire::make_message<wire::Processes>(ask.header.request);
    message.gpu = ask.gpu;
    if (ask.gpu >= instance_.quotas.size()) {
        message.why = wire::Why::unknown_gpu;
        connection.send(message);
        return;
    }
    const auto uses = uses_seen_by(connection, ask.gpu);
    const auto first = std::ranges::upper_bound(uses, ask.after_pid, {}, &wire::ProcessUse::pid);
    const auto left = static_cast<std::size_t>(uses.end() - first);
    const auto count = std::min<std::size_t>(left, wire::Processes::kMost);
    std::copy_n(first, count, message.uses);
    message.count = static_cast<std::uint32_t>(count);
    message.more = left > count ? 1 : 0;
    connection.send(message);
}

}  // namespace cgpu::link
