#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/history/totals.hpp"

namespace cgpu::history {

/// GPU time of one name and owner, or of one GPU, in parts of a span that are equally long.
struct Series {
    std::string key;
    std::vector<double> gpu_s;  ///< seconds, one for each part
    std::vector<double> due_s;  ///< the share that was due, summed over the time of the part
    model::Owner owner = {};    ///< as Total's
};

/// In the order of totals(). `parts`: not 0. A record's time belongs to the parts evenly.
[[nodiscard]] std::vector<Series> series(std::span<const Record> records, const Span& span, By by,
                                         const DayOf& day_of, std::size_t parts);

/// The part of the span with this number.
[[nodiscard]] Span part_of(const Span& span, std::size_t number, std::size_t parts);

}  // namespace cgpu::history
