#include "core/history/totals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/history/day_sums.hpp"

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

/// The instances of a row. Single records have their ids, sums have counts. All are of one owner and name, in
/// the order of their times: what was there before is counted there.
class Seen {
  public:
    /// `of_gpus`: each GPU of an instance has rows of its own.
    void add(const Record& record, bool of_gpus, bool ends_in_span) {
        if (!record.instance.empty()) {
            auto& singles = singles_[of_gpus ? record.gpu : model::Uuid()];
            if (record.instances.began > 0 && ends_in_span)
                singles.began.insert(record.instance);
            else if (sums_.empty())
                singles.there.insert(record.instance);
            return;
        }
        auto& sums = sums_[record.gpu];
        const auto& counts = of_gpus ? record.instances : record.on_first_gpu;
        // Whoever began before the day is counted in the day before, too.
        const bool known = std::exchange(sums.known, true) || !singles_.empty();
        sums.all += known ? counts.began : counts.all;
        sums.began += counts.began;
    }

    void count_in(Total& total) const {
        for (const auto& [gpu, sums] : sums_) {
            total.instances += sums.all;
            total.starts += sums.began;
        }
        for (const auto& [gpu, singles] : singles_) {
            total.instances += singles.began.size();
            total.starts += singles.began.size();
            for (const auto& id : singles.there) total.instances += singles.began.contains(id) ? 0U : 1U;
        }
    }

  private:
    struct Sums {
        std::size_t all = 0;
        std::size_t began = 0;
        bool known = false;
    };
    struct Singles {
        std::set<std::string> began;
        std::set<std::string> there;
    };
    std::map<model::Uuid, Sums> sums_;
    std::map<model::Uuid, Singles> singles_;
};

struct Row {
    Total total;
    double gpu_ns = 0;
    double reported_ns = 0;
    double granted_ns = 0;
    double due_ns = 0;
    double waited_ns = 0;
    std::map<std::pair<model::Owner, std::string>, Seen> seen;
    std::map<model::Uuid, Cover> covered;
    std::map<model::Uuid, Cover> measured;
    std::map<model::Uuid, double> present_us;  ///< in sums, which don't cover all of their time
    std::uint32_t order = 0;
};

bool is_in(const Record& record, const Span& span) {
    return record.begin_us < span.to_us && record.end_us() > span.from_us;
}

double gib_hours(double mib_ms) { return mib_ms / 1024 / 3.6e6; }

void add(Row& row, const Record& record, const Span& span, bool of_gpus) {
    row.gpu_ns += part_in(record, record.gpu_ns(), span);
    row.reported_ns += part_in(record, record.reported_ns, span);
    row.granted_ns += part_in(record, record.granted_ns, span);
    row.due_ns += part_in(record, record.due_ns, span);
    row.waited_ns += part_in(record, record.waited_ns, span);
    row.total.memory_granted += gib_hours(part_in(record, record.memory_granted, span));
    row.total.memory_used += gib_hours(part_in(record, record.memory_used, span));
    const bool ends_in_span = record.end_us() <= span.to_us;
    row.seen[{record.owner, record.name}].add(record, of_gpus, ends_in_span);
    const auto from = std::max(record.begin_us, span.from_us);
    const auto to = std::min(record.end_us(), span.to_us);
    row.covered[record.gpu].add(from, to);
    row.present_us[record.gpu] += part_in(record, record.present_us, span);
    if (record.measured) row.measured[record.gpu].add(from, to);
    row.order = record.gpu_index;
    Total& total = row.total;
    if (!ends_in_span) return;
    total.launches += record.launches;
    total.refused += record.refused;
    total.refused_starts += record.refused_starts;
    total.memory_limit = std::max(total.memory_limit, record.memory_limit);
    total.memory_peak = std::max(total.memory_peak, record.memory_peak);
}

std::uint64_t whole(double figure) { return static_cast<std::uint64_t>(std::llround(figure)); }

/// The records overlap, and those that are sums have times in which nobody was there.
std::uint64_t sum_of(std::map<model::Uuid, Cover>& covers, const std::map<model::Uuid, double>& present_us) {
    std::uint64_t sum = 0;
    for (auto& [gpu, cover] : covers) sum += std::min(cover.length(), whole(present_us.at(gpu)));
    return sum;
}

Total finished(Row& row) {
    Total total = std::move(row.total);
    total.gpu_ns = whole(row.gpu_ns);
    total.reported_ns = whole(row.reported_ns);
    total.granted_ns = whole(row.granted_ns);
    total.due_ns = whole(row.due_ns);
    total.waited_ns = whole(row.waited_ns);
    for (const auto& [key, seen] : row.seen) seen.count_in(total);
    total.covered_us = sum_of(row.covered, row.present_us);
    total.measured_us = sum_of(row.measured, row.present_us);
    return total;
}

bool has(const Dimensions& by, By one) { return std::ranges::find(by, one) != by.end(); }

/// What rows differ by. A GPU's index may change, so its UUID decides which row it is; the row shows its last
/// index.
using RowKey = std::tuple<std::vector<std::string>, model::Owner>;

RowKey row_key(const Record& record, const Dimensions& by, const DayOf& day_of) {
    std::vector<std::string> keys;
    keys.reserve(by.size());
    for (const By one : by)
        keys.push_back(one == By::gpu ? record.gpu.to_string() : key_of(record, one, day_of));
    return {std::move(keys), owner_of(record, by)};
}

/// Rows of several dimensions by these: GPUs by their indices, the others by their texts.
void sort_by_all(std::vector<std::pair<std::uint32_t, Total>>& rows, const Dimensions& by) {
    std::ranges::stable_sort(rows, [&](const auto& a, const auto& b) {
        for (std::size_t i = 0; i < by.size(); ++i) {
            if (by[i] == By::gpu && a.first != b.first) return a.first < b.first;
            if (by[i] != By::gpu && a.second.keys[i] != b.second.keys[i])
                return a.second.keys[i] < b.second.keys[i];
        }
        return false;
    });
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
            return record.gpu == model::Uuid() ? "-" : std::to_string(record.gpu_index);
        case By::day:
            return day_of(middle_of(record));
        case By::user:
            return record.owner.user ? std::to_string(*record.owner.user) : record.owner.declared;
    }
    return {};
}

model::Owner owner_of(const Record& record, const Dimensions& by) {
    return has(by, By::name) || has(by, By::user) ? record.owner : model::Owner{};
}

std::vector<Total> totals(std::span<const Record> records, const Span& span, const Dimensions& by,
                          const DayOf& day_of) {
    std::map<RowKey, Row> rows;
    const bool of_gpus = has(by, By::gpu);
    for (const Record& record : records) {
        if (!is_in(record, span)) continue;
        Row& row = rows[row_key(record, by, day_of)];
        row.total.keys.clear();
        for (const By one : by) row.total.keys.push_back(key_of(record, one, day_of));
        row.total.owner = owner_of(record, by);
        if (of_gpus && record.gpu != model::Uuid()) row.total.gpu = record.gpu.to_string();
        add(row, record, span, of_gpus);
    }
    std::vector<std::pair<std::uint32_t, Total>> sorted;
    sorted.reserve(rows.size());
    for (auto& [key, row] : rows) {
        const bool has_gpu = !of_gpus || !row.total.gpu.empty();
        sorted.emplace_back(has_gpu ? row.order : UINT32_MAX, finished(row));
    }
    if (by.size() == 1 && (by.front() == By::name || by.front() == By::user))
        std::ranges::stable_sort(sorted, std::greater{}, [](const auto& row) { return row.second.gpu_ns; });
    else
        sort_by_all(sorted, by);
    std::vector<Total> all;
    all.reserve(sorted.size());
    for (auto& [order, total] : sorted) all.push_back(std::move(total));
    return all;
}

}  // namespace cgpu::history
