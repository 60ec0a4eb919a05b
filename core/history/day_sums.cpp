#include "core/history/day_sums.hpp"

#include <algorithm>
#include <iterator>

namespace cgpu::history {
namespace {

bool is_single(const Record& record) { return !record.instance.empty(); }

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
    auto until = first.number == 1 ? first.begin_us : first.end_us();
    // A sum that begins later is of records that are all there. One that begins earlier is used, and so are
    // all that begin before it ends: then no record is half in a sum that is used.
    std::ranges::sort(sums, {}, &Record::begin_us);
    std::size_t used = 0;
    while (used < sums.size() && sums[used].begin_us < until) until = std::max(until, sums[used++].end_us());
    if (used == 0) return records;
    sums.resize(used);
    std::erase_if(records, [&](const Record& record) { return middle_of(record) < until; });
    std::ranges::move(records, std::back_inserter(sums));
    return sums;
}

}  // namespace cgpu::history
