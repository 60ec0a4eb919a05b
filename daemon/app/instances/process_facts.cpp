#include "daemon/app/instances/process_facts.hpp"

namespace cgpu::app {

std::vector<view::Process> ProcessFacts::of(const std::vector<model::Process>& all) {
    const Nanos now = loop_.now();
    if (now - since_ >= kSecond) {
        known_.clear();
        since_ = now;
    }
    std::map<std::uint32_t, view::Process> by_pid;
    for (const model::Process& process : all) {
        const auto [known, is_new] = known_.try_emplace({process.pid, process.start_time});
        if (is_new) {
            const auto owner = processes_.owner_of(process);
            known->second = {static_cast<std::uint32_t>(process.pid), owner.user, owner.command};
        }
        by_pid.insert_or_assign(known->second.pid, known->second);
    }
    std::vector<view::Process> sorted;
    sorted.reserve(by_pid.size());
    for (auto& [pid, process] : by_pid) sorted.push_back(std::move(process));
    return sorted;
}

}  // namespace cgpu::app
