#include "core/upgrade/process_mover.hpp"

#include <algorithm>

namespace cgpu::upgrade {

void ProcessMover::ask(const Who& who, std::uint64_t id, Front& front, const Version& to, Actions& actions) {
    front.asked.emplace(++next_request_, to);
    actions.emplace_back(Switch{who, id, next_request_, to, switch_deadline_ms_});
}

void ProcessMover::bring(const Who& who, std::uint64_t id, Front& front, const Version& to, Nanos now,
                         Actions& actions) {
    // A front that was asked for another version may still change to that one: the last request counts.
    const bool other_version =
        front.asked.empty() ? front.runs && *front.runs != to : front.asked.rbegin()->second != to;
    if (other_version && front.refused.empty() && now >= front.not_before) ask(who, id, front, to, actions);
}

std::optional<std::string> ProcessMover::who_cannot(const Version& to, const Version& least_front) const {
    for (const auto& [who, process] : roster_.all())
        for (const auto& [id, front] : process.fronts) {
            const bool there = front.runs == to;
            if (!there && front.version < least_front)
                return name_of(who) + " has front " + front.version.str() +
                       ", which can't exchange its engine for " + to.str();
        }
    return std::nullopt;
}

std::optional<Who> ProcessMover::move_first(const Version& to, Nanos now, Actions& actions) {
    auto& processes = roster_.all();
    if (first_) {
        const auto found = processes.find(*first_);
        if (found != processes.end() && !found->second.is_on(to)) {
            for (auto& [id, front] : found->second.fronts) bring(found->first, id, front, to, now, actions);
            return std::nullopt;
        }
        first_.reset();
        if (found != processes.end()) return found->first;
    }
    for (auto& [who, process] : processes) {
        for (auto& [id, front] : process.fronts) {
            bring(who, id, front, to, now, actions);
            if (!front.asked.empty()) first_ = who;
        }
        if (first_) return std::nullopt;
    }
    return std::nullopt;
}

void ProcessMover::move_all(const Version& to, Nanos now, Actions& actions) {
    for (auto& [who, process] : roster_.all())
        for (auto& [id, front] : process.fronts) bring(who, id, front, to, now, actions);
}

bool ProcessMover::move_back(const Version& from, Nanos now, Actions& actions) {
    move_all(from, now, actions);
    return std::ranges::any_of(roster_.all(), [&](const auto& each) {
        return !each.second.is_on(from) && !each.second.has_refused(from);
    });
}

void ProcessMover::start_anew() {
    first_.reset();
    roster_.forgive();
}

void ProcessMover::settle(const Version& in_force, Nanos now, Actions& actions) {
    for (auto& [who, process] : roster_.all())
        for (auto& [id, front] : process.fronts) {
            const auto had_been_asked = front.asked.size();
            bring(who, id, front, in_force, now, actions);
            if (had_been_asked == 0 && !front.asked.empty())
                actions.emplace_back(Tell{true, name_of(who) + " runs " + front.runs->str() + ", and " +
                                                    in_force.str() + " is in force: it is told to go over"});
        }
}

std::optional<Nanos> ProcessMover::wake(Nanos now) const {
    std::optional<Nanos> first;
    for (const auto& [who, process] : roster_.all())
        for (const auto& [id, front] : process.fronts)
            if (front.not_before > now && (!first || front.not_before < *first)) first = front.not_before;
    return first;
}

}  // namespace cgpu::upgrade
