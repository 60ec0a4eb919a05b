#include "tests/programs/disk/disk.hpp"

#include <linux/fs.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace programs::disk {
namespace {

/// A disk writes these as a whole.
constexpr std::size_t kSector = 512;

constexpr std::array kNames = {
    std::pair{"create", Step::create},        std::pair{"open", Step::open},
    std::pair{"write", Step::write},          std::pair{"grow", Step::grow},
    std::pair{"shorten", Step::shorten},      std::pair{"sync", Step::sync},
    std::pair{"rename", Step::rename},        std::pair{"sync-folder", Step::sync_folder},
    std::pair{"exchange", Step::exchange},    std::pair{"remove", Step::remove},
    std::pair{"attributes", Step::attributes}};

void put(std::string& content, std::size_t place, std::string_view bytes) {
    if (content.size() < place + bytes.size()) content.resize(place + bytes.size());
    content.replace(place, bytes.size(), bytes);
}

/// A change that nobody has waited for.
void put_some(std::string& content, const File::Change& change, std::mt19937_64& random) {
    const auto how = random() % 3;
    if (how == 0) return;
    if (change.bytes.empty()) return content.resize(change.place);
    if (how == 1) return put(content, change.place, change.bytes);
    for (std::size_t begin = 0; begin < change.bytes.size();) {
        const std::size_t sector_ends = kSector - (change.place + begin) % kSector;
        const auto sector = std::string_view(change.bytes).substr(begin, sector_ends);
        if (random() % 2 == 0) put(content, change.place + begin, sector);
        begin += sector.size();
    }
}

timespec now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

}  // namespace

std::optional<Step> step_named(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(kNames, [&](const auto& each) { return name == each.first; });
    return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

Disk::Number Disk::find(const std::string& name) const {
    const auto found = seen_.find(name);
    return found == seen_.end() ? kNobody : found->second;
}

unsigned Disk::links(Number number) const {
    return static_cast<unsigned>(
        std::ranges::count_if(seen_, [&](const auto& each) { return each.second == number; }));
}

int Disk::fault(Step step) const {
    const auto found = faults_.find(step);
    return found == faults_.end() ? 0 : found->second;
}

void Disk::set_fault(Step step, int error) { faults_[step] = error; }

void Disk::apply(std::map<std::string, Number>& names, const Renamed& renamed) {
    for (const auto& [name, number] : renamed)
        if (number == kNobody)
            names.erase(name);
        else
            names[name] = number;
}

void Disk::change_names(Renamed renamed) {
    apply(seen_, renamed);
    unsynced_.push_back(std::move(renamed));
}

int Disk::make(const std::string& name, mode_t mode, uid_t owner, gid_t group) {
    if (find(name) != kNobody) return EEXIST;
    if (const int error = fault(Step::create)) return error;
    auto& file = files_[next_];
    file.mode = mode;
    file.owner = owner;
    file.group = group;
    file.changed = now();
    change_names({{name, next_++}});
    return 0;
}

int Disk::remove(const std::string& name) {
    if (find(name) == kNobody) return ENOENT;
    if (const int error = fault(Step::remove)) return error;
    change_names({{name, kNobody}});
    return 0;
}

int Disk::rename(const std::string& from, const std::string& to, unsigned flags) {
    const Number moved = find(from);
    const Number there = find(to);
    if (moved == kNobody) return ENOENT;
    const bool exchange = (flags & RENAME_EXCHANGE) != 0;
    if (const int error = fault(exchange ? Step::exchange : Step::rename)) return error;
    if (exchange && there == kNobody) return ENOENT;
    if ((flags & RENAME_NOREPLACE) != 0 && there != kNobody) return EEXIST;
    if (moved != there) change_names({{from, exchange ? there : kNobody}, {to, moved}});
    return 0;
}

int Disk::write(Number number, std::size_t place, std::string_view bytes, std::size_t& written) {
    if (const int error = fault(Step::write)) return error;
    auto& file = files_.at(number);
    if (place + bytes.size() > file.seen.size())
        if (const int error = fault(Step::grow)) {
            if (place >= file.seen.size()) return error;
            bytes = bytes.substr(0, file.seen.size() - place);
        }
    put(file.seen, place, bytes);
    file.unsynced.push_back({place, std::string(bytes)});
    file.changed = now();
    written = bytes.size();
    return 0;
}

int Disk::set_length(Number number, std::size_t length) {
    auto& file = files_.at(number);
    if (const int error = fault(length > file.seen.size() ? Step::grow : Step::shorten)) return error;
    file.seen.resize(length);
    file.unsynced.push_back({length, ""});
    file.changed = now();
    return 0;
}

int Disk::sync(Number number) {
    auto& file = files_.at(number);
    if (const int error = fault(Step::sync)) {
        // As Linux does: what couldn't be written is not tried again, and the next sync succeeds without it.
        for (const auto& change : std::exchange(file.unsynced, {})) put_some(file.kept, change, random_);
        return error;
    }
    file.kept = file.seen;
    file.unsynced.clear();
    return 0;
}

int Disk::sync_folder() {
    if (const int error = fault(Step::sync_folder)) return error;
    kept_ = seen_;
    unsynced_.clear();
    return 0;
}

std::string Disk::cut(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    random_.seed(seed + 1);
    const auto done = random() % (unsynced_.size() + 1);
    std::string said = "seed " + std::to_string(seed) + ", " + std::to_string(done) + " of " +
                       std::to_string(unsynced_.size()) + " changes of names";
    for (std::size_t each = 0; each < done; ++each) apply(kept_, unsynced_[each]);
    unsynced_.clear();
    seen_ = kept_;
    for (auto& [number, file] : files_) {
        if (!file.unsynced.empty()) said += ", " + std::to_string(file.unsynced.size()) + " writes";
        for (const auto& change : std::exchange(file.unsynced, {})) put_some(file.kept, change, random);
        file.seen = file.kept;
    }
    std::erase_if(files_, [this](const auto& each) { return links(each.first) == 0; });
    return said;
}

}  // namespace programs::disk
