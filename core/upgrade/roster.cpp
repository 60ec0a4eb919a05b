#include "core/upgrade/roster.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace cgpu::upgrade {
namespace {

/// Why the process is not on the version, as the end of a sentence that begins with the process.
std::string describe(const Roster::Process& process, const Version& version) {
    if (process.fronts.empty()) return "has not connected";
    for (const auto& [id, front] : process.fronts) {
        if (front.runs == version && front.asked.empty()) continue;
        if (!front.refused.empty()) return front.refused;
        if (!front.asked.empty()) return "was asked and has not answered";
        if (!front.runs) return "has not said what it runs";
        if (front.not_before > 0) return "runs " + front.runs->str() + " and was busy all the time";
        return "runs " + front.runs->str();
    }
    return "runs " + version.str();
}

/// The same for an answer; empty if there is nothing to report.
std::string trouble_of(const Said& said, const Version& to) {
    const auto with = [&](const std::string& text) {
        return text + (said.detail.empty() ? "" : " (" + said.detail + ")");
    };
    switch (said.result) {
        case wire::SwitchResult::running:
        case wire::SwitchResult::busy:
            return "";
        case wire::SwitchResult::done:
            return said.version == to ? "" : with("runs " + said.version.str() + " instead of " + to.str());
        case wire::SwitchResult::not_loadable:
            return with("can't load " + to.str());
        case wire::SwitchResult::other_abi:
            return with("has a front that can't call " + to.str());
        case wire::SwitchResult::other_version:
            return with("found another version in the file of " + to.str());
        case wire::SwitchResult::self_check:
            return with("failed the self-check of " + to.str());
    }
    return with("gave an unknown answer");
}

}  // namespace

bool operator<(const Who& a, const Who& b) {
    const auto key = [](const Who& who) {
        return std::tie(who.instance, who.process.pid, who.process.start_time, who.process.boot_id);
    };
    return key(a) < key(b);
}

std::string name_of(const Who& who) {
    return "process " + std::to_string(who.process.pid) + " of instance " + who.instance.short_id();
}

bool Roster::Process::is_on(const Version& version) const {
    return !fronts.empty() && std::all_of(fronts.begin(), fronts.end(), [&](const auto& entry) {
        const Front& front = entry.second;
        return front.runs == version && front.asked.empty();
    });
}

bool Roster::Process::has_refused(const Version& version) const {
    return !fronts.empty() && std::all_of(fronts.begin(), fronts.end(), [&](const auto& entry) {
        const Front& front = entry.second;
        return (front.runs == version && front.asked.empty()) || !front.refused.empty();
    });
}

std::size_t Roster::count_on(const Version& version) const {
    return static_cast<std::size_t>(
        std::count_if(processes_.begin(), processes_.end(),
                      [&](const auto& entry) { return entry.second.is_on(version); }));
}

std::map<std::int32_t, std::set<Version>> Roster::versions(const model::InstanceId& instance) const {
    std::map<std::int32_t, std::set<Version>> found;
    // They are side by side: whoever shows the node asks for each of hundreds of instances.
    const Who first{instance, {std::numeric_limits<std::int32_t>::min(), 0, {}}};
    for (auto its = processes_.lower_bound(first); its != processes_.end(); ++its) {
        if (its->first.instance != instance) break;
        for (const auto& [id, front] : its->second.fronts)
            if (front.runs) found[its->first.process.pid].insert(*front.runs);
    }
    return found;
}

void Roster::connected(const Who& who, std::uint64_t front, const Version& version) {
    auto& fronts = processes_[who].fronts;
    fronts[front] = {version, {}, {}, {}, 0};
}

void Roster::lost(const Who& who, std::uint64_t front) {
    const auto found = processes_.find(who);
    if (found == processes_.end()) return;
    const auto lost = found->second.fronts.find(front);
    if (lost == found->second.fronts.end()) return;
    found->second.interrupted |= !lost->second.asked.empty();
    found->second.fronts.erase(lost);
}

bool Roster::gone(const Who& who) {
    const auto found = processes_.find(who);
    if (found == processes_.end()) return false;
    const auto& fronts = found->second.fronts;
    const bool asked = found->second.interrupted ||
                       std::any_of(fronts.begin(), fronts.end(),
                                   [](const auto& entry) { return !entry.second.asked.empty(); });
    processes_.erase(found);
    return asked;
}

std::optional<std::string> Roster::said(const Said& said, Nanos retry_at) {
    const auto process = processes_.find(said.who);
    if (process == processes_.end()) return std::nullopt;
    const auto found = process->second.fronts.find(said.front);
    if (found == process->second.fronts.end()) return std::nullopt;
    process->second.interrupted = false;
    Front& front = found->second;
    front.runs = said.version;
    const auto asked = front.asked.find(said.request);
    if (asked == front.asked.end()) return std::nullopt;
    const Version to = asked->second;
    front.asked.erase(front.asked.begin(), std::next(asked));
    // If it has been told something else since, the answer only says what runs.
    if (!front.asked.empty()) return std::nullopt;
    front.not_before = said.result == wire::SwitchResult::busy ? retry_at : 0;
    front.refused = trouble_of(said, to);
    if (front.refused.empty()) return std::nullopt;
    return name_of(said.who) + " " + front.refused;
}

void Roster::forgive() {
    for (auto& [who, process] : processes_)
        for (auto& [id, front] : process.fronts) {
            front.refused.clear();
            front.not_before = 0;
        }
}

std::string Roster::others_than(const Version& version, std::size_t most) const {
    std::string text;
    std::size_t count = 0;
    for (const auto& [who, process] : processes_) {
        if (process.is_on(version)) continue;
        if (++count > most) continue;
        text += (text.empty() ? "" : "; ") + name_of(who) + " " + describe(process, version);
    }
    if (count > most) text += "; and " + std::to_string(count - most) + " more";
    return text;
}

}  // namespace cgpu::upgrade
