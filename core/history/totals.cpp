#include "core/history/totals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace cgpu::history {
namespace {

constexpr std::size_t kShortId = 12;

/// The union of intervals.
class Cover {
  public:
    void add(std::uint64_t from, std::uint64_t to) { parts_.emplace_back(from, to); }

    [[nodiscard]] std::uint64_t length() {
        std::ranges::sort(parts_);
        std::uint64_t sum = 0;
        std::uint64_t reached = 0;
        for (const auto& [from, to] : parts_) {
            if (to <= reached) continue;
            sum += to - std::max(from, reached);
            reached = to;
        }
        return sum;
    }

  private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts_;
};

struct Row {
    Total total;
    double gpu_ns = 0;
    double reported_ns = 0;
    double granted_ns = 0;
    double due_ns = 0;
    double waited_ns = 0;
    std::set<std::string> instances;
    std::map<model::Uuid, Cover> covered;
    std::map<model::Uuid, Cover> measured;
    std::uint32_t order = 0;
};

bool is_in(const Record& record, const Span& span) {
    return record.begin_us < span.to_us && record.end_us() > span.from_us;
}

void add(Row& row, const Record& record, const Span& span) {
    row.gpu_ns += part_in(record, record.gpu_ns(), span);
    row.reported_ns += part_in(record, record.reported_ns, span);
    row.granted_ns += part_in(record, record.granted_ns, span);
    row.due_ns += part_in(record, record.due_ns, span);
    row.waited_ns += part_in(record, record.waited_ns, span);
    row.instances.insert(record.instance);
    const auto from = std::max(record.begin_us, span.from_us);
    const auto to = std::min(record.end_us(), span.to_us);
    row.covered[record.gpu].add(from, to);
    if (record.measured) row.measured[record.gpu].add(from, to);
    row.order = record.gpu_index;
    Total& total = row.total;
    if (record.end_us() > span.to_us) return;
    total.launches += record.launches;
    total.refused += record.refused;
    total.memory_limit = std::max(total.memory_limit, record.memory_limit);
    total.memory_peak = std::max(total.memory_peak, record.memory_peak);
}

std::uint64_t whole(double figure) { return static_cast<std::uint64_t>(std::llround(figure)); }

std::uint64_t sum_of(std::map<model::Uuid, Cover>& covers) {
    std::uint64_t sum = 0;
    for (auto& [gpu, cover] : covers) sum += cover.length();
    return sum;
}

Total finished(Row& row) {
    Total total = std::move(row.total);
    total.gpu_ns = whole(row.gpu_ns);
    total.reported_ns = whole(row.reported_ns);
    total.granted_ns = whole(row.granted_ns);
    total.due_ns = whole(row.due_ns);
    total.waited_ns = whole(row.waited_ns);
    total.instances = row.instances.size();
    total.covered_us = sum_of(row.covered);
    total.measured_us = sum_of(row.measured);
    return total;
}

}  // namespace

double part_in(const Record& record, std::uint64_t figure, const Span& span) {
    if (!is_in(record, span)) return 0;
    if (record.duration_us == 0) return static_cast<double>(figure);
    const auto inside = std::min(record.end_us(), span.to_us) - std::max(record.begin_us, span.from_us);
    return static_cast<double>(figure) * static_cast<double>(inside) /
           static_cast<double>(record.duration_us);
}

std::string key_of(const Record& record, By by, const DayOf& day_of) {
    switch (by) {
        case By::name:
            return record.name.empty() ? record.instance.substr(0, kShortId) : record.name;
        case By::gpu:
            return std::to_string(record.gpu_index);
        case By::day:
            return day_of(record.begin_us);
        case By::user:
            return record.owner.user ? std::to_string(*record.owner.user) : record.owner.declared;
    }
    return {};
}

model::Owner owner_of(const Record& record, By by) {
    return by == By::name || by == By::user ? record.owner : model::Owner{};
}

std::vector<Total> totals(std::span<const Record> records, const Span& span, By by, const DayOf& day_of) {
    // A GPU's index may change, so its UUID decides which row it is; the row shows its last index.
    std::map<std::pair<std::string, model::Owner>, Row> rows;
    for (const Record& record : records) {
        if (!is_in(record, span)) continue;
        const auto key = key_of(record, by, day_of);
        const auto owner = owner_of(record, by);
        Row& row = rows[{by == By::gpu ? record.gpu.to_string() : key, owner}];
        row.total.key = key;
        row.total.owner = owner;
        if (by == By::gpu) row.total.gpu = record.gpu.to_string();
        add(row, record, span);
    }
    std::vector<std::pair<std::uint32_t, Total>> sorted;
    sorted.reserve(rows.size());
    for (auto& [key, row] : rows) sorted.emplace_back(row.order, finished(row));
    if (by == By::gpu) std::ranges::stable_sort(sorted, {}, [](const auto& row) { return row.first; });
    if (by == By::name || by == By::user)
        std::ranges::stable_sort(sorted, std::greater{}, [](const auto& row) { return row.second.gpu_ns; });
    std::vector<Total> all;
    all.reserve(sorted.size());
    for (auto& [order, total] : sorted) all.push_back(std::move(total));
    return all;
}

}  // namespace cgpu::history
