#include "daemon/app/instances/base/process_facts.hpp"

namespace cgpu::app {

void ProcessFacts::begin_round(Nanos now) {
    // Who wasn't asked for in the last round has ended, or nobody wants to know.
    std::erase_if(known_, [this](const auto& each) { return each.second.asked < round_; });
    ++round_;
    round_began_ = now;
    reads_ = 0;
}

std::vector<view::Process> ProcessFacts::of(const std::vector<model::Process>& all) {
    const Nanos now = loop_.now();
    if (round_ == 0 || now - round_began_ >= kSecond) begin_round(now);
    std::map<std::uint32_t, std::pair<const model::Process*, Known*>> by_pid;
    for (const model::Process& process : all) {
        Known& known = known_[{process.pid, process.start_time}];
        known.asked = round_;
        known.process.pid = static_cast<std::uint32_t>(process.pid);
        by_pid.insert_or_assign(known.process.pid, std::pair(&process, &known));
    }
    // The instances are asked for one after the other: the first ones' processes wait until all had a turn.
    const std::uint64_t turn = known_.size() / kMostReads + 1;
    std::vector<view::Process> sorted;
    sorted.reserve(by_pid.size());
    for (const auto& [pid, each] : by_pid) {
        const auto& [process, known] = each;
        const bool due = known->read == 0 || round_ - known->read >= turn;
        if (due && reads_ < kMostReads) {
            ++reads_;
            const auto owner = processes_.owner_of(*process);
            known->process.uid = owner.user;
            known->process.command = owner.command;
            known->read = round_;
        }
        sorted.push_back(known->process);
    }
    return sorted;
}

}  // namespace cgpu::app
