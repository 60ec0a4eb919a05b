#include "daemon/system/processes/mount_search.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "daemon/system/processes/mount_info.hpp"
#include "daemon/system/processes/proc_file.hpp"

namespace cgpu::system {
namespace {

/// One process takes some 15 to 30 µs.
constexpr std::size_t kProcessesPerTurn = 100;

std::string mountinfo_of(std::int32_t pid) { return "/proc/" + std::to_string(pid) + "/mountinfo"; }

/// How long it waits before it looks for processes that are new.
constexpr app::Nanos kNextRoundAfter = 2'000'000;

/// How long a search waits if it had no descriptor to look with.
constexpr app::Nanos kAgainAfter = 200'000'000;

/// A host without jobs has a few mount namespaces. With more than these, the others are asked which mounts
/// they have, which takes a fifth of the time that reading those takes.
constexpr std::size_t kFewNamespaces = 16;

/// Without a descriptor no process can be examined; any other failure to open a file of a process means that
/// it has ended.
bool is_lack(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

}  // namespace

MountSearch::MountSearch(app::Loop& loop, app::Processes& processes, std::filesystem::path folder,
                         std::vector<model::Process> others, app::FoundProcess call)
    : loop_(loop),
      processes_(processes),
      folder_(std::move(folder)),
      others_(std::move(others)),
      call_(std::move(call)) {
    for (const auto& other : others_) others_pids_.insert(other.pid);
    begin_at(loop_.now());
}

void MountSearch::begin_at(app::Nanos when) {
    examined_.clear();
    rounds_ = 0;
    first_.reset();
    turn_ = loop_.at(when, [this] { look_at_new(); });
}

void MountSearch::look_at_new() {
    pids_.clear();
    next_ = 0;
    mounted_.clear();  // the kernel gives ids again
    others_known_ = false;
    blind_ = false;
    missed_ = false;
    ++rounds_;
    list_pids();
    look_on();
}

void MountSearch::list_pids() {
    const auto pids = all_pids();
    blind_ = !pids;
    if (!pids) return;
    for (const auto pid : *pids)
        if (!examined_.contains(pid) && !others_pids_.contains(pid)) pids_.push_back(pid);
}

void MountSearch::look_on() {
    for (std::size_t i = 0; i < kProcessesPerTurn && next_ < pids_.size(); ++i) look_at(pids_[next_++]);
    if (next_ < pids_.size()) {
        turn_ = loop_.at(loop_.now(), [this] { look_on(); });
        return;
    }
    if (!first_ && blind_) return begin_at(loop_.now() + kAgainAfter);
    if (!first_ && missed_ && rounds_ < kMostRounds) {
        turn_ = loop_.at(loop_.now() + kNextRoundAfter, [this] { look_at_new(); });
        return;
    }
    // The process may have ended while the others were examined.
    if (first_ && !processes_.alive(*first_)) return begin_at(loop_.now());
    // Called last, because it may destroy this search.
    const auto call = std::exchange(call_, nullptr);
    const auto first = first_;
    call(first);
}

void MountSearch::look_at(std::int32_t pid) {
    examined_.insert(pid);
    if (!mounted_for(pid)) return;
    const auto process = processes_.identify(pid);
    missed_ = missed_ || !process;
    const bool earlier = process && (!first_ || process->start_time < first_->start_time);
    if (!earlier) return;
    // Checked again, now that the process is identified: its pid may have been another's. If so, all are
    // examined once more.
    if (processes_.sees(*process, folder_))
        first_ = *process;
    else
        blind_ = true;
}

bool MountSearch::mounted_for(std::int32_t pid) {
    const auto first_mount = first_mount_seen(pid);
    missed_ = missed_ || first_mount.empty();
    if (first_mount.empty()) return false;
    if (mounted_.size() >= kFewNamespaces && !others_known_) learn_others_mounts();
    if (const auto known = mounted_.find(first_mount); known != mounted_.end()) return known->second;
    struct stat status {};
    const auto mounts = read_text(mountinfo_of(pid));
    blind_ = blind_ || (!mounts && is_lack(mounts.error()));
    // If its process has ended meanwhile, the next one with these mounts is examined.
    if (!mounts || mounts->empty()) missed_ = true;
    if (!mounts || mounts->empty() || stat(folder_.c_str(), &status) != 0) return false;
    return mounted_[first_mount] = mounts_folder(*mounts, status.st_dev, folder_.native());
}

/// One that has ended meanwhile may have left its pid to another process.
void MountSearch::learn_others_mounts() {
    others_known_ = true;
    for (const auto& other : others_) {
        const auto first_mount = first_mount_of(other.pid).value_or("");
        if (!first_mount.empty() && processes_.alive(other)) mounted_.try_emplace(first_mount, false);
    }
}

/// The id of the first mount that a process shows; empty if it has ended.
std::string MountSearch::first_mount_seen(std::int32_t pid) {
    auto first = first_mount_of(pid);
    blind_ = blind_ || (!first && is_lack(first.error()));
    return std::move(first).value_or("");
}

}  // namespace cgpu::system
