#pragma once

#include <string>

#include "core/history/totals.hpp"

namespace cgpu::cgpuctl::report {

/// Into which parts the time of a plot is divided.
struct PlotParts {
    history::Span span;  ///< the one asked for, up to whole parts
    std::size_t count = 1;
    std::string length;  ///< of a part: `10 min`
};

/// The shortest usual length of which at most `most` are needed; days by the reader's time zone if `by_day`.
[[nodiscard]] PlotParts plot_parts(const history::Span& span, bool by_day, std::size_t most);

}  // namespace cgpu::cgpuctl::report
