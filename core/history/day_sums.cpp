#include "core/history/day_sums.hpp"

#include <algorithm>
#include <iterator>

namespace cgpu::history {
namespace {

bool is_single(const Record& record) { return !record.instance.empty(); }

/// What records and the sums of them have the same of.
struct Billed {
    std::uint64_t gpu_ns = 0;
    std::uint64_t memory_granted = 0;
    std::uint64_t refused_starts = 0;

    void add(const Record& record) {
        gpu_ns += record.gpu_ns();
        memory_granted += record.memory_granted;
        refused_starts += record.refused_starts;
    }
    [[nodiscard]] bool is_more_than(const Billed& other) const {
        return gpu_ns > other.gpu_ns || memory_granted > other.memory_granted ||
               refused_starts > other.refused_starts;
    }
};

}  // namespace

void DaySums::take_up(std::span<const Record> sums, std::span<const Record> records) {
    if (sums.empty()) return add(records);
    for (const Record& sum : sums) day_ = std::max(day_, begin_(middle_of(sum)));
    for (const Record& sum : sums)
        if (begin_(middle_of(sum)) == day_) make_row({sum.owner, sum.name, sum.gpu}).sum = sum;
    for (const Record& record : records) {
        if (!is_single(record) || begin_(middle_of(record)) != day_) continue;
        const auto row = rows_.find(key_for(record));
        if (row == rows_.end()) continue;
        if (record.ended)
            row->second.living.erase(record.instance);
        else
            row->second.living.insert(record.instance);
    }
}

void DaySums::add(std::span<const Record> records) {
    for (const Record& record : records) add(record);
}

DaySums::Key DaySums::key_for(const Record& record) const {
    const auto is_new = [this](const Key& key) { return !rows_.contains(key); };
    const auto own = rows_of_.find(record.owner);
    Key key{record.owner, record.name, record.gpu};
    if (is_new(key) &&
        (rows_.size() >= kMostNamed || (own != rows_of_.end() && own->second >= kMostOfAnOwner)))
        std::get<1>(key) = kOtherNames;
    if (is_new(key) && rows_.size() >= kMostOfGpus) std::get<2>(key) = {};
    if (is_new(key) && rows_.size() + 1 >= kMostRows) key = Key(model::Owner(), kOthers, model::Uuid());
    return key;
}

DaySums::Row& DaySums::make_row(const Key& key) {
    const auto [row, made] = rows_.try_emplace(key);
    if (made) ++rows_of_[std::get<0>(key)];
    return row->second;
}

void DaySums::add(const Record& record) {
    if (const auto day = begin_(middle_of(record)); day != day_) {
        for (auto& [key, row] : rows_)
            if (row.changed) former_.push_back(std::move(row.sum));
        rows_.clear();
        rows_of_.clear();
        day_ = day;
    }
    const auto key = key_for(record);
    const bool first = !rows_.contains(key);
    Row& row = make_row(key);
    Record part = record;
    if (is_single(record)) {
        const bool counted =
            record.ended ? row.living.erase(record.instance) > 0 : !row.living.insert(record.instance).second;
        if (counted) part.instances = part.on_first_gpu = {};
    }
    if (first) {
        row.sum = sum_of(part, std::get<1>(key));
        row.sum.owner = std::get<0>(key);
        row.sum.gpu = std::get<2>(key);
    } else {
        history::add(row.sum, part);
    }
    row.changed = true;
}

std::vector<Record> DaySums::take_changed() {
    auto changed = std::exchange(former_, {});
    for (auto& [key, row] : rows_)
        if (std::exchange(row.changed, false)) changed.push_back(row.sum);
    return changed;
}

void DaySums::written(std::span<const Record> sums) {
    for (const Record& sum : sums) {
        const auto row = rows_.find({sum.owner, sum.name, sum.gpu});
        if (row != rows_.end() && begin_(middle_of(sum)) == day_) row->second.sum.number = sum.number;
    }
}

std::vector<Record> joined(std::vector<Record> records, std::vector<Record> sums) {
    if (records.empty()) return sums;
    // The ring has lost those before its first one, unless that is the first of all.
    const auto& first = records.front();
    const auto kept_from = first.number == 1 ? first.begin_us : first.end_us();
    std::uint64_t kept_until = 0;
    for (const Record& record : records) kept_until = std::max(kept_until, record.end_us());
    std::ranges::sort(sums, {}, &Record::begin_us);
    std::vector<Record> used;
    for (auto begin = sums.begin(); begin != sums.end();) {
        // Sums of one day, or of more if records reach over midnight: then no record is half in a sum that is
        // used.
        const auto from_us = begin->begin_us;
        auto until_us = begin->end_us();
        Billed all;
        auto end = begin;
        for (; end != sums.end() && end->begin_us < until_us; ++end) {
            until_us = std::max(until_us, end->end_us());
            all.add(*end);
        }
        if (end == begin) all.add(*end++);  // of no length
        const auto is_in = [&](const Record& record) {
            const auto middle = middle_of(record);
            return middle >= from_us && (middle < until_us || record.end_us() == until_us);
        };
        Billed kept;
        for (const Record& record : records)
            if (is_in(record)) kept.add(record);
        // Sums that are newer than the last record were read later.
        const bool lost = from_us < kept_from || (until_us <= kept_until && all.is_more_than(kept));
        if (lost) {
            std::erase_if(records, is_in);
            used.insert(used.end(), begin, end);
        }
        begin = end;
    }
    used.insert(used.end(), std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
    std::ranges::stable_sort(used, {}, &Record::begin_us);
    return used;
}

}  // namespace cgpu::history
