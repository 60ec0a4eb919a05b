#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/history/series.hpp"

namespace cgpu::cgpuctl::report {

/// What a plot shows. Above: GPU seconds over the time, stacked. Below: the share that was due to each row,
/// and the one that it got.
struct Plot {
    std::string title;
    history::Span span;                   ///< what the parts of the series make up
    std::string part;                     ///< the length of one: `10 minutes`
    std::vector<history::Series> series;  ///< all with equally many parts, at least one
    std::vector<history::Total> totals;
    std::string rows;                                 ///< what the totals are: `instance`, `GPU` or `day`
    std::function<std::string(std::uint64_t)> label;  ///< of a moment on the time axis
};

/// SVG 1.1, without fonts, scripts or anything else from outside; dark where the reader's screen is. The same
/// plot gives the same text.
[[nodiscard]] std::string to_svg(const Plot& plot);

}  // namespace cgpu::cgpuctl::report
