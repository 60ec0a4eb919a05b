#include "client/cgpuctl/report/plot_parts.hpp"

#include <algorithm>
#include <array>

#include "client/cgpuctl/report/local_time.hpp"

namespace cgpu::cgpuctl::report {
namespace {

struct Length {
    std::uint64_t seconds;
    const char* text;
};
constexpr std::uint64_t kMicroseconds = 1'000'000;
constexpr std::uint64_t kDay = 86'400;
constexpr std::array kLengths = {
    Length{1, "second"},       Length{5, "5 seconds"},       Length{10, "10 seconds"},
    Length{30, "30 seconds"},  Length{60, "minute"},         Length{300, "5 minutes"},
    Length{600, "10 minutes"}, Length{1800, "30 minutes"},   Length{3600, "hour"},
    Length{10800, "3 hours"},  Length{21600, "6 hours"},     Length{kDay, "day"},
    Length{7 * kDay, "week"},  Length{28 * kDay, "4 weeks"},
};

std::uint64_t parts_needed(const history::Span& span, std::uint64_t length) {
    return (span.to_us + length - 1) / length - span.from_us / length;
}

}  // namespace

PlotParts plot_parts(const history::Span& span, bool by_day, std::size_t most) {
    if (by_day) {
        const auto from = day_begin(span.from_us);
        const auto to = day_end(span.to_us - 1);
        // A day may have 23 or 25 hours.
        const auto days = (to - from + kDay * kMicroseconds / 2) / (kDay * kMicroseconds);
        if (days <= most) return {{from, to}, std::max<std::size_t>(1, days), "day"};
    }
    const auto fits = [&](const Length& length) {
        return parts_needed(span, length.seconds * kMicroseconds) <= most;
    };
    const auto found = std::ranges::find_if(kLengths, fits);
    auto length = found == kLengths.end() ? kLengths.back().seconds : found->seconds;
    std::string text = (found == kLengths.end() ? kLengths.back() : *found).text;
    if (found == kLengths.end()) {
        const auto times = parts_needed(span, length * kMicroseconds) / most + 1;
        length *= times;
        text = std::to_string(4 * times) + " weeks";
    }
    const auto us = length * kMicroseconds;
    const history::Span whole{span.from_us / us * us, (span.to_us + us - 1) / us * us};
    return {whole, std::max<std::size_t>(1, (whole.to_us - whole.from_us) / us), text};
}

}  // namespace cgpu::cgpuctl::report
