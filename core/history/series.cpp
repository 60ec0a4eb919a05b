#include "core/history/series.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cgpu::history {

Span part_of(const Span& span, std::size_t number, std::size_t parts) {
    const auto length = static_cast<double>(span.to_us - span.from_us);
    const auto at = [&](std::size_t which) {
        return span.from_us +
               static_cast<std::uint64_t>(length * static_cast<double>(which) / static_cast<double>(parts));
    };
    return {at(number), number + 1 == parts ? span.to_us : at(number + 1)};
}

std::vector<Series> series(std::span<const Record> records, const Span& span, By by, const DayOf& day_of,
                           std::size_t parts) {
    std::map<std::pair<std::string, model::Owner>, Series> by_key;
    for (const Record& record : records) {
        if (record.begin_us >= span.to_us || record.end_us() <= span.from_us) continue;
        Series& one = by_key[{key_of(record, by, day_of), owner_of(record, {by})}];
        one.gpu_s.resize(parts);
        one.due_s.resize(parts);
        // One before the part by the rounded quotient: part_of() decides.
        const auto after = std::max(record.begin_us, span.from_us) - span.from_us;
        const auto quotient = static_cast<double>(after) / static_cast<double>(span.to_us - span.from_us);
        const auto near = static_cast<std::size_t>(quotient * static_cast<double>(parts));
        for (auto part = near > 0 ? near - 1 : 0; part < parts; ++part) {
            const auto place = part_of(span, part, parts);
            if (place.from_us >= record.end_us()) break;
            one.gpu_s[part] += part_in(record, record.gpu_ns(), place) / 1e9;
            one.due_s[part] += part_in(record, record.due_ns, place) / 1e9;
        }
    }
    std::vector<Series> all;
    for (const Total& total : totals(records, span, {by}, day_of)) {
        const auto found = by_key.find({total.keys.front(), total.owner});
        if (found == by_key.end()) continue;
        all.push_back(std::move(found->second));
        all.back().key = total.keys.front();
        all.back().owner = total.owner;
        by_key.erase(found);
    }
    return all;
}

}  // namespace cgpu::history
