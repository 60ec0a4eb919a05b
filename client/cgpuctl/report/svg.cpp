#include "client/cgpuctl/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/report/svg_writer.hpp"

namespace cgpu::cgpuctl::report {
namespace {

using history::Series;
using history::Total;

constexpr double kWidth = 960;
constexpr double kLeft = 72;
constexpr double kRight = 748;  // the legend is beside it
constexpr double kTop = 72;
constexpr double kBottom = 312;
constexpr double kShares = 388;  // where the first row of shares begins
constexpr double kRow = 30;
constexpr double kNameEnd = 200;  // of the shares
constexpr std::size_t kMostColours = 8;
constexpr std::size_t kMostRows = 20;
constexpr std::size_t kMostLetters = 24;

/// The colours of Okabe and Ito, which people tell apart who don't see all colours; the last one is for what
/// has none of its own.
constexpr std::array<const char*, kMostColours> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                            "#56b4e9", "#d55e00", "#8c6bb1", "#999999"};

std::string shown(const std::string& name) { return shortened(printable(name), kMostLetters); }

/// A round step of which about four make the whole: 1, 2 or 5 times a power of ten.
double nice_step(double whole) {
    const double rough = whole / 4;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough) return factor * power;
    return 10 * power;
}

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

double sum_at(const std::vector<Series>& all, std::size_t part) {
    double sum = 0;
    for (const Series& series : all) sum += series.gpu_s[part];
    return sum;
}

/// At most as many as there are colours: the last one is of all others together.
std::vector<Series> with_colours(std::vector<Series> all) {
    if (all.size() <= kMostColours) return all;
    Series others{counted(all.size() - kMostColours + 1, "other"), all.back().gpu_s, all.back().due_s};
    all.pop_back();
    while (all.size() >= kMostColours) {
        for (std::size_t part = 0; part < others.gpu_s.size(); ++part)
            others.gpu_s[part] += all.back().gpu_s[part];
        all.pop_back();
    }
    all.push_back(std::move(others));
    return all;
}

void draw_time_axis(SvgWriter& svg, const Plot& plot, std::size_t parts) {
    constexpr std::size_t kMostLabels = 8;
    const std::size_t every = (parts + kMostLabels - 1) / kMostLabels;
    const double width = (kRight - kLeft) / static_cast<double>(parts);
    for (std::size_t part = 0; part < parts; part += every)
        svg.text(kLeft + width * static_cast<double>(part), kBottom + 18, "start", "small",
                 plot.label(history::part_of(plot.span, part, parts).from_us));
}

void draw_stack(SvgWriter& svg, const Plot& plot, const std::vector<Series>& all) {
    const std::size_t parts = all.empty() ? 1 : all.front().gpu_s.size();
    double most = 0;
    for (std::size_t part = 0; part < parts; ++part) most = std::max(most, sum_at(all, part));
    const double step = nice_step(most > 0 ? most : 1);
    const auto steps = std::max(1, static_cast<int>(std::ceil(most / step)));
    const double whole = step * steps;
    const double scale = (kBottom - kTop) / whole;
    for (int line = 0; line <= steps; ++line) {
        const double tick = step * line;
        svg.line(kLeft, kBottom - tick * scale, kRight, kBottom - tick * scale);
        svg.text(kLeft - 8, kBottom - tick * scale + 4, "end", "small", number(tick));
    }
    svg.text(kLeft - 56, kTop - 16, "start", "small", "GPU seconds in each " + plot.part);
    const double width = (kRight - kLeft) / static_cast<double>(parts);
    const double gap = std::min(2.0, width / 5);
    for (std::size_t part = 0; part < parts; ++part) {
        double bottom = kBottom;
        for (std::size_t which = 0; which < all.size(); ++which) {
            const double height = all[which].gpu_s[part] * scale;
            if (height <= 0) continue;
            bottom -= height;
            svg.bar(kLeft + width * static_cast<double>(part) + gap / 2, bottom, width - gap, height,
                    kColours[which],
                    all[which].key + ": " + number(all[which].gpu_s[part]) + " s from " +
                        plot.label(history::part_of(plot.span, part, parts).from_us));
        }
    }
    draw_time_axis(svg, plot, parts);
    for (std::size_t which = 0; which < all.size(); ++which) {
        const double top = kTop + 22 * static_cast<double>(which);
        svg.bar(kRight + 20, top, 12, 12, kColours[which], "");
        svg.text(kRight + 40, top + 10, "start", "", shown(all[which].key));
    }
}

std::string shares_of(const Total& total) {
    if (total.covered_us == 0) return "had no GPU";
    if (!total.share_due()) return "native: not measured";
    return share_text(*total.share_got()) + " got, " + share_text(*total.share_due()) + " due";
}

void draw_shares(SvgWriter& svg, const Plot& plot, const std::vector<Series>& all) {
    svg.text(kLeft - 56, kShares - 16, "start", "small",
             "Share of the GPU by " + plot.rows + ": what it got, and the mark where it was due");
    const double scale = kRight - kNameEnd;
    double top = kShares;
    for (std::size_t row = 0; row < std::min(plot.totals.size(), kMostRows); ++row, top += kRow) {
        const Total& total = plot.totals[row];
        const auto same = std::ranges::find(all, total.keys.front(), &Series::key);
        const auto* colour =
            same == all.end() ? kColours.back() : kColours[static_cast<std::size_t>(same - all.begin())];
        svg.text(kNameEnd - 8, top + 15, "end", "", shown(total.keys.front()));
        svg.frame(kNameEnd, top, scale, kRow - 10);
        const double got = std::min(1.0, total.share_got().value_or(0));
        if (got > 0)
            svg.bar(kNameEnd, top, got * scale, kRow - 10, colour,
                    total.keys.front() + ": " + shares_of(total));
        if (const auto due = total.share_due())
            svg.mark(kNameEnd + std::min(1.0, *due) * scale, top - 3, top + kRow - 7);
        svg.text(kRight + 20, top + 15, "start", "small", shares_of(total));
    }
    if (plot.totals.size() > kMostRows)
        svg.text(kNameEnd, top + 8, "start", "small",
                 "and " + std::to_string(plot.totals.size() - kMostRows) + " more");
}

}  // namespace

std::string to_svg(const Plot& plot) {
    const auto all = with_colours(plot.series);
    const auto rows = static_cast<double>(std::min(plot.totals.size(), kMostRows) +
                                          (plot.totals.size() > kMostRows ? 1 : 0));
    SvgWriter svg(kWidth, kShares + kRow * std::max(1.0, rows) + 16);
    svg.text(kLeft - 56, 32, "start", "title", plot.title);
    draw_stack(svg, plot, all);
    draw_shares(svg, plot, all);
    return svg.finish();
}

}  // namespace cgpu::cgpuctl::report
