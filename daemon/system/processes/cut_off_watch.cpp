#include "daemon/system/processes/cut_off_watch.hpp"

#include <algorithm>
#include <utility>

#include "daemon/system/processes/mount_info.hpp"
#include "daemon/system/processes/proc_file.hpp"

namespace cgpu::system {
namespace {

// What one turn of the loop may take, whatever users do with their mounts: some milliseconds.
constexpr std::size_t kPidsPerTurn = 100;
constexpr std::size_t kTextsPerTurn = 2;
/// From one turn to the next: however many mounts users make, most of the time is left to others.
constexpr app::Nanos kBetweenTurns = 20'000'000;
constexpr std::size_t kLongestMounts = std::size_t{1} << 20;
/// Ids of mounts are used again, so what was told is forgotten some time.
constexpr std::size_t kMostTold = 4096;

}  // namespace

void CutOffWatch::instance_known(const model::Instance& instance) {
    instances_.insert(instance.id);
    if (!turn_) turn_ = loop_.at(loop_.now() + kEvery, [this] { look(); });
}

void CutOffWatch::instance_forgotten(const model::InstanceId& id) {
    instances_.erase(id);
    if (!instances_.empty()) return;
    turn_.reset();
    looks_.clear();
    told_.clear();
}

void CutOffWatch::look() {
    pids_.clear();
    seen_.clear();
    std::unordered_map<std::int32_t, int> looks;
    for (const auto pid : all_pids().value_or(std::vector<std::int32_t>{})) {
        const auto known = looks_.find(pid);
        const int before = known == looks_.end() ? 0 : known->second;
        looks.emplace(pid, std::min(before + 1, kLooks));
        if (before < kLooks) pids_.push_back(pid);
    }
    looks_ = std::move(looks);
    // Nobody's fronts are among the host's own mounts, which may be many.
    seen_.insert(first_mount_of(1).value_or(""));
    std::ranges::sort(pids_);
    look_on();
}

void CutOffWatch::look_on() {
    std::size_t texts = 0;
    for (std::size_t i = 0; i < kPidsPerTurn && texts < kTextsPerTurn && !pids_.empty(); ++i) {
        const auto pid = pids_.back();
        pids_.pop_back();
        if (look_at(pid)) ++texts;
    }
    const auto next = pids_.empty() ? kEvery : kBetweenTurns;
    turn_ = loop_.at(loop_.now() + next, [this, on = !pids_.empty()] { on ? look_on() : look(); });
}

bool CutOffWatch::look_at(std::int32_t pid) {
    const auto tree = first_mount_of(pid).value_or("");
    if (tree.empty() || told_.contains(tree) || !seen_.insert(tree).second) return false;
    const auto mounts = read_text("/proc/" + std::to_string(pid) + "/mountinfo", kLongestMounts);
    // A longer text isn't judged: what found_ does with the process would read all of it.
    if (!mounts || mounts->size() >= kLongestMounts || !is_cut_off(*mounts)) return true;
    if (told_.size() >= kMostTold) told_.clear();
    told_.insert(tree);
    found_(pid);
    return true;
}

}  // namespace cgpu::system
