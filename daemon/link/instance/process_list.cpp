#include "daemon/link/instance/process_list.hpp"

#include <algorithm>
#include <vector>

namespace cgpu::link {
namespace {

std::vector<wire::ProcessUse> uses_seen_by(const model::Process& viewer, const app::PoolKey& pool,
                                           Peers& peers, const Outside& outside) {
    std::vector<wire::ProcessUse> uses;
    const auto asker = peers.place_of(viewer);
    for (const auto& [process, bytes] : outside.leases.pools().holders(pool))
        if (const auto pid = app::pid_seen_from(asker, peers.place_of(process)))
            uses.push_back({static_cast<std::uint32_t>(*pid), 0, bytes});
    std::ranges::sort(uses, {}, &wire::ProcessUse::pid);
    return uses;
}

}  // namespace

void list_processes(Connection& connection, const wire::AskProcesses& ask, const model::Instance& instance,
                    Peers& peers, const Outside& outside) {
    auto message = wire::make_message<wire::Processes>(ask.header.request);
    message.gpu = ask.gpu;
    if (ask.gpu >= instance.quotas.size()) {
        message.why = wire::Why::unknown_gpu;
        connection.send(message);
        return;
    }
    const auto uses = uses_seen_by(connection.process(),
                                   {app::key_of(instance), instance.quotas[ask.gpu].gpu}, peers, outside);
    const auto first = std::ranges::upper_bound(uses, ask.after_pid, {}, &wire::ProcessUse::pid);
    const auto left = static_cast<std::size_t>(uses.end() - first);
    const auto count = std::min<std::size_t>(left, wire::Processes::kMost);
    std::copy_n(first, count, message.uses);
    message.count = static_cast<std::uint32_t>(count);
    message.more = left > count ? 1 : 0;
    connection.send(message);
}

}  // namespace cgpu::link
