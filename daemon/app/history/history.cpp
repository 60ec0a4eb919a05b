#include "daemon/app/history/history.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {
namespace {

constexpr Nanos kMostIdle = 3600 * kSecond;
/// After so many intervals the records are brought to the disk; the kernel does that by itself, too, mostly
/// sooner.
constexpr int kSyncEvery = 10;
/// Timers fire a little late or, where the wall clock is being corrected, a little early.
constexpr std::uint64_t kEarlyUs = 50'000;

std::uint64_t grown(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

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
        account.begin = account.idle_until.moment = moment;
    }
    return account;
}

/// Both are by id, so one pass sees who has come and who has gone.
void History::update(const model::Node& node) {
    const auto moment = now();
    auto item = accounts_.begin();
    const auto end = [&] {
        close(item->first, item->second, moment, true);
        item = accounts_.erase(item);
    };
    std::vector<const model::Instance*> come;
    for (const auto& [id, instance] : node.instances()) {
        while (item != accounts_.end() && item->first.instance < id) end();
        std::size_t known = 0;
        while (item != accounts_.end() && item->first.instance == id) {
            const auto* quota = instance.quota_on(item->first.gpu);
            if (quota == nullptr || item->first.generation != instance.generation) {
                end();
                continue;
            }
            update(item->second, *quota, node);
            ++known;
            ++item;
        }
        if (known < instance.quotas.size()) come.push_back(&instance);
    }
    while (item != accounts_.end()) end();
    flush();
    for (const auto* instance : come)
        for (const auto& quota : instance->quotas)
            update(open({instance->id, instance->generation, quota.gpu}, *instance, moment), quota, node);
    if (!accounts_.empty() && timer_ == nullptr) set_timer();
}

void History::update(Account& account, const model::Quota& quota, const model::Node& node) {
    account.memory_limit = quota.memory_limit.count();
    if (const auto* gpu = node.find_gpu(quota.gpu)) account.gpu_index = gpu->index;
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
    const bool wrote = !made_.empty();
    flush();
    since_sync_ += wrote || since_sync_ > 0 ? 1 : 0;
    if (since_sync_ < kSyncEvery) return;
    outside_.store.sync();
    since_sync_ = 0;
}

void History::finish() {
    const auto moment = now();
    for (auto& [key, account] : accounts_) {
        close(key, account, moment, false);
        if (account.is_idle()) write(key, account, account.idle_until, false);
    }
    add_sums();
    flush();
    outside_.store.sync();
}

void History::close(const Key& key, Account& account, const Moment& moment, bool ended) {
    const auto usage = outside_.usage.usage(key.instance, key.gpu);
    account.measured = usage.target_share.has_value();
    Reached reached{
        moment,
        {usage.gpu_time, usage.granted, usage.due, usage.waited, usage.launches, usage.allocations_refused},
        outside_.usage.take_memory_peak(key.instance, key.gpu)};
    const bool idle = account.idle_until.counts.same_work(reached.counts);
    if (idle)
        reached.peak = std::max(reached.peak, account.idle_until.peak);
    else if (account.is_idle())
        write(key, account, account.idle_until, false);
    account.idle_until = reached;
    if (ended && idle && !account.recorded && reached.peak == 0) return;
    if (!idle || ended || moment.at - account.begin.at >= kMostIdle) write(key, account, reached, ended);
}

/// From where the last record ended until `reached`; by value, because that may be the account's own.
void History::write(const Key& key, Account& account, Reached reached, bool ended) {
    const auto passed = std::max<Nanos>(0, reached.moment.at - account.begin.at);
    history::Record record;
    record.duration_us = static_cast<std::uint64_t>(passed / kMicro);
    // The wall clock may have been set meanwhile: its last reading is the better one.
    record.begin_us = grown(reached.moment.wall_us, record.duration_us);
    record.instance = key.instance.str();
    record.name = account.name;
    record.gpu = key.gpu;
    record.gpu_index = account.gpu_index;
    record.reported_ns = grown(reached.counts.reported, account.written.reported);
    record.granted_ns = grown(reached.counts.granted, account.written.granted);
    record.due_ns = grown(reached.counts.due, account.written.due);
    record.waited_ns = grown(reached.counts.waited, account.written.waited);
    record.launches = grown(reached.counts.launches, account.written.launches);
    record.refused = grown(reached.counts.refused, account.written.refused);
    record.memory_limit = account.memory_limit;
    record.memory_peak = reached.peak;
    record.measured = account.measured;
    record.ended = ended;
    record.owner = account.owner;
    const bool is_short = ended && !account.recorded && account.owner.user.value_or(0) != 0;
    if (is_short && ++short_ones_[*account.owner.user] > kMostShortOfAUser)
        sum_up(record);
    else
        made_.push_back(std::move(record));
    account.recorded = true;
    account.begin = reached.moment;
    account.written = reached.counts;
    account.idle_until = {reached.moment, reached.counts, 0};
}

void History::sum_up(const history::Record& record) {
    const auto [item, first] = sums_.try_emplace({*record.owner.user, record.gpu}, record);
    history::Record& sum = item->second;
    // Of each instance the larger figure may be billed, and the sums of both would lose that.
    if (first) {
        sum.instance = sum.name = kOtherShort;
        sum.granted_ns = record.gpu_ns();
        return;
    }
    const auto end_us = std::max(sum.end_us(), record.end_us());
    sum.begin_us = std::min(sum.begin_us, record.begin_us);
    sum.duration_us = end_us - sum.begin_us;
    sum.gpu_index = record.gpu_index;
    sum.reported_ns += record.reported_ns;
    sum.granted_ns += record.gpu_ns();
    sum.due_ns += record.due_ns;
    sum.waited_ns += record.waited_ns;
    sum.launches += record.launches;
    sum.refused += record.refused;
    sum.memory_limit = std::max(sum.memory_limit, record.memory_limit);
    sum.memory_peak = std::max(sum.memory_peak, record.memory_peak);
    sum.measured = sum.measured || record.measured;
}

void History::add_sums() {
    for (auto& [key, sum] : sums_) made_.push_back(std::move(sum));
    sums_.clear();
    short_ones_.clear();
}

void History::flush() {
    if (made_.empty()) return;
    outside_.store.append(made_);
    made_.clear();
}

}  // namespace cgpu::app
