#include "daemon/app/history/history.hpp"

#include <algorithm>
#include <utility>

#include "core/model/differences.hpp"

namespace cgpu::app {
namespace {

constexpr Nanos kMostIdle = 3600 * kSecond;
/// After so many intervals the records are brought to the disk; the kernel does that by itself, too, mostly
/// sooner.
constexpr int kSyncEvery = 10;
/// Timers fire a little late or, where the wall clock is being corrected, a little early.
constexpr std::uint64_t kEarlyUs = 50'000;

std::uint64_t grown(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

std::uint64_t held(std::uint64_t bytes, Nanos time) {
    return history::mib_ms(bytes, static_cast<std::uint64_t>(std::max<Nanos>(0, time) / kMicro));
}

}  // namespace

History::History(const Outside& outside, Nanos interval)
    : outside_(outside),
      interval_(interval),
      day_sums_(outside.day_begin),
      recent_(static_cast<std::uint64_t>(outside.half_life / kMicro)) {
    auto found = outside_.store.take_found();
    const auto now_us = outside_.wall_clock_us();
    for (const auto& record : found) recent_.add(record, now_us);
    day_sums_.take_up(outside_.days.take_found(), std::move(found));
    write_sums();
}

History::Moment History::now() const { return {outside_.wall_clock_us(), outside_.loop.now()}; }

bool History::interval_is_over(const Moment& moment) const {
    const auto length = static_cast<std::uint64_t>(interval_ / kMicro);
    return (moment.wall_us + kEarlyUs) / length != last_interval_;
}

History::Account& History::open(const Key& key, const model::Instance& instance, const Moment& moment) {
    const auto [item, added] = accounts_.try_emplace(key);
    Account& account = item->second;
    if (added) {
        account.name = instance.name;
        account.owner = instance.owner;
        account.begin = moment;
        account.limited_since = moment.at;
        // Another instance that had the id may not have ended on the GPU.
        account.written.memory_used = outside_.usage.usage(key.instance, key.gpu).memory_time;
        account.on_first_gpu = !instance.quotas.empty() && instance.quotas.front().gpu == key.gpu;
        // What the first node has was admitted by a former cgpud, and so was what comes back from its record:
        // that has a process already. The time of its creation doesn't say it, because the clock may be set.
        account.began = told_ && !instance.attached;
    }
    return account;
}

/// Most changes concern one instance of hundreds.
void History::update(const model::Node& node) {
    const auto moment = now();
    std::vector<const model::Instance*> come;
    model::for_each_difference(
        seen_, node.instances(), [&](const model::Instance* then, const model::Instance* now) {
            const auto& id = now != nullptr ? now->id : then->id;
            std::size_t known = 0;
            auto item = accounts_.lower_bound({id, 0, model::Uuid()});
            while (item != accounts_.end() && item->first.instance == id) {
                const auto* quota = now != nullptr ? now->quota_on(item->first.gpu) : nullptr;
                if (quota == nullptr || item->first.generation != now->generation) {
                    close(item->first, item->second, moment, true);
                    item = accounts_.erase(item);
                    continue;
                }
                update(item->second, *quota, moment.at);
                item->second.name = now->name;  // an interval is of the name at its end
                ++known;
                ++item;
            }
            if (now != nullptr && known < now->quotas.size()) come.push_back(now);
        });
    seen_ = node.instances();
    flush();
    for (const auto& gpu : node.gpus()) indexes_[gpu.uuid] = gpu.index;
    for (const auto* instance : come)
        for (const auto& quota : instance->quotas)
            update(open({instance->id, instance->generation, quota.gpu}, *instance, moment), quota,
                   moment.at);
    told_ = true;
    if (!accounts_.empty() && timer_ == nullptr) set_timer();
}

void History::update(Account& account, const model::Quota& quota, Nanos now) {
    if (account.memory_limit == quota.memory_limit.count()) return;
    account.memory_granted += held(account.memory_limit, now - account.limited_since);
    account.memory_limit = quota.memory_limit.count();
    account.limited_since = now;
}

void History::set_timer() {
    if (interval_ >= kLookEvery) return;
    const auto past =
        static_cast<Nanos>(outside_.wall_clock_us() % static_cast<std::uint64_t>(interval_ / kMicro));
    timer_ = outside_.loop.at(outside_.loop.now() + interval_ - past * kMicro, [this] {
        timer_ = nullptr;
        tick();
        if (!accounts_.empty()) set_timer();
    });
}

void History::tick() {
    const auto moment = now();
    if (!interval_is_over(moment)) return;
    last_interval_ = (moment.wall_us + kEarlyUs) / static_cast<std::uint64_t>(interval_ / kMicro);
    for (auto& [key, account] : accounts_) close(key, account, moment, false);
    add_sums();
    add_refused(moment);
    const bool wrote = !made_.empty();
    flush();
    since_sync_ += wrote || since_sync_ > 0 ? 1 : 0;
    if (since_sync_ < kSyncEvery) return;
    outside_.store.sync();
    outside_.days.sync();
    since_sync_ = 0;
}

void History::finish() {
    const auto moment = now();
    for (auto& [key, account] : accounts_) close(key, account, moment, false);
    add_sums();
    add_refused(moment);
    flush();
    outside_.store.sync();
    outside_.days.sync();
}

/// What it had since the last record ended.
void History::close(const Key& key, Account& account, const Moment& moment, bool ended) {
    const auto usage = outside_.usage.usage(key.instance, key.gpu);
    const Counts counts{
        usage.gpu_time,
        usage.granted,
        usage.due,
        usage.waited,
        usage.launches,
        usage.allocations_refused,
        account.memory_granted + held(account.memory_limit, moment.at - account.limited_since),
        usage.memory_time};
    const auto passed = std::max<Nanos>(0, moment.at - account.begin.at);
    const bool idle = account.written.same_work(counts);
    if (passed == 0 && idle && !ended) return;
    history::Record record;
    record.duration_us = static_cast<std::uint64_t>(passed / kMicro);
    // The wall clock may have been set meanwhile: its last reading is the better one.
    record.begin_us = grown(moment.wall_us, record.duration_us);
    record.instance = key.instance.str();
    record.name = account.name;
    record.gpu = key.gpu;
    record.gpu_index = indexes_[key.gpu];
    record.reported_ns = grown(counts.reported, account.written.reported);
    record.granted_ns = grown(counts.granted, account.written.granted);
    record.due_ns = grown(counts.due, account.written.due);
    record.waited_ns = grown(counts.waited, account.written.waited);
    record.launches = grown(counts.launches, account.written.launches);
    record.refused = grown(counts.refused, account.written.refused);
    record.memory_granted = grown(counts.memory_granted, account.written.memory_granted);
    record.memory_used = grown(counts.memory_used, account.written.memory_used);
    record.present_us = record.duration_us;
    record.instances.began = std::exchange(account.began, false) ? 1 : 0;
    record.on_first_gpu = account.on_first_gpu ? record.instances : history::InstanceCount();
    record.memory_limit = account.memory_limit;
    record.memory_peak = outside_.usage.take_memory_peak(key.instance, key.gpu);
    record.measured = usage.target_share.has_value();
    record.ended = ended;
    record.owner = account.owner;
    account.begin = moment;
    account.written = counts;
    make(key, account, std::move(record), idle);
}

void History::make(const Key& key, Account& account, history::Record added, bool idle) {
    if (added.ended && !account.last) {
        if (idle && added.memory_peak == 0) {
            if (added.name.empty()) added.name = key.instance.short_id();
            const bool known = sums_.contains({added.owner, added.name, added.gpu});
            return sum_up(added,
                          known || ++unused_[added.owner] <= kMostShortOfAUser ? added.name : kOtherShort);
        }
        if (added.owner.user.value_or(0) != 0 && ++short_ones_[added.owner] > kMostShortOfAUser)
            return sum_up(added, kOtherShort);
    }
    if (idle && account.idle && account.last && goes_on(account, added))
        history::prolong(*account.last, added);
    else
        account.last = added;
    account.idle = idle;
    auto* const whose = added.ended ? nullptr : &account;
    made_.push_back({*account.last, std::move(added), whose});
}

bool History::goes_on(const Account& account, const history::Record& added) const {
    const auto length = account.last->duration_us + added.duration_us;
    return length <= static_cast<std::uint64_t>(kMostIdle / kMicro) &&
           outside_.day_begin(history::middle_of(added)) == outside_.day_begin(account.last->begin_us);
}

void History::make(history::Record record) {
    auto added = record;
    made_.push_back({std::move(record), std::move(added), nullptr});
}

void History::sum_up(const history::Record& record, const std::string& name) {
    const auto [item, first] = sums_.try_emplace({record.owner, name, record.gpu});
    if (first)
        item->second = history::sum_of(record, name);
    else
        history::add(item->second, record);
}

void History::refused(std::string_view name, const model::Owner& owner) {
    const auto first = refused_.lower_bound({owner, std::string()});
    auto last = first;
    std::size_t names = 0;
    for (; last != refused_.end() && last->first.first == owner; ++last) ++names;
    const bool is_user = owner.user.value_or(0) != 0;
    const bool many = refused_.size() >= kMostRefused || (is_user && names >= std::size_t{kMostShortOfAUser});
    std::pair key{owner, std::string(name.substr(0, history::kMostNameBytes))};
    if (many && !refused_.contains(key)) key.second = kOtherShort;
    ++refused_[key];
}

/// They have no GPU, and no instance.
void History::add_refused(const Moment& moment) {
    for (const auto& [whose, count] : std::exchange(refused_, {})) {
        history::Record record;
        record.duration_us = static_cast<std::uint64_t>(interval_ / kMicro);
        record.begin_us = grown(moment.wall_us, record.duration_us);
        record.owner = whose.first;
        record.name = whose.second;
        record.instances = record.on_first_gpu = {};
        record.refused_starts = count;
        make(std::move(record));
    }
}

void History::add_sums() {
    for (auto& [key, sum] : sums_) make(std::move(sum));
    sums_.clear();
    short_ones_.clear();
    unused_.clear();
}

void History::flush() {
    if (made_.empty()) return;
    std::vector<history::Record> records;
    std::vector<history::Record> added;
    for (auto& each : made_) {
        records.push_back(std::move(each.record));
        added.push_back(std::move(each.added));
    }
    outside_.store.append(records);
    for (std::size_t i = 0; i < made_.size(); ++i)
        if (made_[i].account != nullptr) made_[i].account->last->number = records[i].number;
    made_.clear();
    for (const auto& each : added) recent_.add(each, outside_.wall_clock_us());
    day_sums_.add(added);
    write_sums();
}

void History::write_sums() {
    auto sums = day_sums_.take_changed();
    if (sums.empty()) return;
    outside_.days.append(sums);
    day_sums_.written(sums);
}

}  // namespace cgpu::app
