#include "client/cgpuctl/top/tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/smi/figures.hpp"
#include "client/cgpuctl/top/base/figures.hpp"

namespace cgpu::cgpuctl::top {
namespace {

/// Above this part of its limit the memory of an instance, or of a GPU, is marked.
constexpr double kNearlyFull = 0.95;
/// A share that is this much smaller than the due one is marked if the instance waits at the same time.
constexpr double kShort = 0.05;

/// The columns of instances in the order in which they are kept if the screen becomes narrow.
enum class Column { gpu, name, due, got, weight, memory, waiting, high, bar, history, owner, processes, id };

struct Width {
    Column column;
    std::string_view head;
    std::size_t least;
    std::size_t most;  ///< it gets more than `least` if there is room
    bool right;
    std::optional<SortBy> sorts;
};

/// From the left to the right. Those of which the screen of 80 columns is made have, with a blank between
/// them, 80 columns at least.
constexpr std::array kColumns = {
    Width{Column::gpu, "GPU", 3, 3, true, SortBy::gpu},
    Width{Column::id, "ID", 12, 12, false, std::nullopt},
    Width{Column::name, "NAME", 14, 30, false, SortBy::name},
    Width{Column::owner, "OWNER", 8, 12, false, std::nullopt},
    Width{Column::processes, "PROC", 4, 4, true, std::nullopt},
    Width{Column::weight, "WT", 3, 3, true, SortBy::weight},
    Width{Column::high, "PRI", 4, 4, false, std::nullopt},
    Width{Column::due, "DUE", 5, 5, true, SortBy::due},
    Width{Column::got, "GOT", 5, 5, true, SortBy::got},
    Width{Column::bar, "GOT, | DUE", 10, 24, false, std::nullopt},
    Width{Column::history, "HISTORY", 9, 60, false, std::nullopt},
    Width{Column::waiting, "WAIT", 5, 5, true, SortBy::waiting},
    Width{Column::memory, "MEMORY MiB", 13, 13, true, SortBy::memory},
};

/// The width of each of kColumns; 0: it is left out.
std::array<std::size_t, kColumns.size()> widths_in(std::size_t width) {
    std::array<std::size_t, kColumns.size()> widths{};
    std::size_t used = 0;
    for (std::size_t rank = 0; rank < kColumns.size(); ++rank)
        for (std::size_t i = 0; i < kColumns.size(); ++i) {
            if (static_cast<std::size_t>(kColumns.at(i).column) != rank) continue;
            const std::size_t more = kColumns.at(i).least + (used == 0 ? 0 : 1);
            // One that doesn't fit ends it: a later one in its place would make the columns change order.
            if (used + more > width) return widths;
            widths.at(i) = kColumns.at(i).least;
            used += more;
        }
    return widths;
}

/// What is left of the width goes to the columns that can use it, the name first.
std::array<std::size_t, kColumns.size()> filled_widths(std::size_t width) {
    auto widths = widths_in(width);
    std::size_t used = 0;
    for (const std::size_t each : widths) used += each == 0 ? 0 : each + 1;
    std::size_t spare = width + 1 > used ? width + 1 - used : 0;
    for (const Column column : {Column::name, Column::bar, Column::history})
        for (std::size_t i = 0; i < kColumns.size(); ++i) {
            if (kColumns.at(i).column != column || widths.at(i) == 0) continue;
            // Half of it, so that the ones behind it grow, too.
            const std::size_t share = column == Column::history ? spare : (spare + 1) / 2;
            const std::size_t given = std::min(share, kColumns.at(i).most - kColumns.at(i).least);
            widths.at(i) += given;
            spare -= given;
        }
    return widths;
}

std::string share_or(std::optional<double> share) {
    if (!share) return "-";
    // 100% instead of 100.0%, which doesn't fit.
    return smi::per_cent_text(share) + "%";
}

std::string memory_of(const InstanceRow& row) {
    return smi::mib_text(row.memory_used) + "/" + (row.own ? smi::mib_text(row.memory_limit) : "-");
}

std::string cell_of(const InstanceRow& row, Column column, std::size_t width, bool utf8) {
    switch (column) {
        case Column::gpu:
            return std::to_string(row.gpu_index);
        case Column::id:
            return narrow(short_id(row.place.instance), utf8);
        case Column::name:
            return narrow(row.name, utf8);
        case Column::owner:
            return narrow(row.owner, utf8);
        case Column::processes:
            return std::to_string(row.processes);
        case Column::weight:
            return row.own ? std::to_string(row.weight) : "-";
        case Column::high:
            return row.high ? "high" : "";
        case Column::due:
            return share_or(row.due);
        case Column::got:
            return share_or(row.got);
        case Column::bar:
            if (row.paused) return "paused";
            return row.got ? bar(row.got, row.due, width, utf8) : std::string();
        case Column::history:
            return sparkline(row.history, width, utf8);
        case Column::waiting:
            return share_or(row.waiting);
        case Column::memory:
            return memory_of(row);
    }
    return {};
}

bool is_nearly_full(std::uint64_t used, std::uint64_t limit) {
    return limit > 0 && static_cast<double>(used) > kNearlyFull * static_cast<double>(limit);
}

Style style_of(const InstanceRow& row, Column column) {
    if (column == Column::bar && row.paused) return Style::warning;
    if (column == Column::bar || column == Column::history) return Style::good;
    if (column == Column::memory && is_nearly_full(row.memory_used, row.memory_limit)) return Style::warning;
    const bool is_short =
        row.got && row.due && row.waiting && *row.got<*row.due - kShort&& * row.waiting> kShort;
    if (column == Column::got && is_short) return Style::warning;
    if (column == Column::high) return Style::heading;
    return Style::plain;
}

Span gap() { return {" ", Style::plain}; }

/// What keeps instances from the GPU is shown in the place of its policy.
Span policy_of(const GpuRow& gpu) {
    if (!gpu.present) return {left("lost", 12) + " ", Style::bad};
    return {left(gpu.drained ? "drained" : gpu.policy, 12) + " ",
            gpu.drained ? Style::warning : Style::plain};
}

}  // namespace

Line gpu_line(const GpuRow& gpu, std::size_t width, bool utf8) {
    // 5 columns of `GPU 0`, of which the number has two, and so on; the rest is for the bars.
    const std::string memory = smi::mib_text(gpu.memory_used) + "/" + smi::mib_text(gpu.memory_total) + "MiB";
    const std::string util =
        gpu.utilization ? smi::per_cent_text(std::round(*gpu.utilization * 100) / 100) + "%" : "-";
    Line line = {{"GPU " + right(gpu.present ? std::to_string(gpu.index) : "-", 2) + " ", Style::heading},
                 policy_of(gpu),
                 {right(std::to_string(gpu.instances) + "/" + std::to_string(gpu.max_inst), 5) + " "}};
    constexpr std::size_t kBefore = 26;
    constexpr std::size_t kTexts = 28;  // `util  97% `, `mem 143771/143771MiB`, with blanks
    constexpr std::size_t kModel = 20;
    constexpr std::size_t kLeastBar = 6;
    std::size_t spare = width > kBefore + kTexts ? width - kBefore - kTexts : 0;
    if (spare >= kModel + 2 * (kLeastBar + 1) + 1) {
        line.push_back({left(narrow(gpu.model, utf8), kModel) + " "});
        spare -= kModel + 1;
    }
    const std::size_t bar_width = spare >= 2 * (kLeastBar + 1) ? std::min<std::size_t>(spare / 2 - 1, 30) : 0;
    line.push_back({"util" + right(util, 5) + " "});
    if (bar_width > 0)
        line.push_back({bar(gpu.utilization, std::nullopt, bar_width, utf8) + " ", Style::good});
    line.push_back({"mem "});
    const double total = static_cast<double>(std::max<std::uint64_t>(gpu.memory_total, 1));
    if (bar_width > 0)
        line.push_back({bar(static_cast<double>(gpu.memory_used) / total,
                            static_cast<double>(gpu.memory_allocated) / total, bar_width, utf8) +
                            " ",
                        is_nearly_full(gpu.memory_used, gpu.memory_total) ? Style::warning : Style::good});
    line.push_back({memory});
    return line;
}

Line instance_heading(SortBy sorted_by, std::size_t width) {
    const auto widths = filled_widths(width);
    Line line;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (widths.at(i) == 0) continue;
        if (!line.empty()) line.push_back({" ", Style::heading});
        const Width& column = kColumns.at(i);
        const bool sorts = column.sorts == sorted_by;
        const std::string head(column.head);
        line.push_back({column.right ? right(head, widths.at(i)) : left(head, widths.at(i)),
                        sorts ? Style::title : Style::heading});
    }
    return line;
}

Line instance_line(const InstanceRow& row, bool selected, std::size_t width, bool utf8) {
    const auto widths = filled_widths(width);
    Line line;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (widths.at(i) == 0) continue;
        if (!line.empty()) line.push_back(gap());
        const Width& column = kColumns.at(i);
        const std::string cell = cell_of(row, column.column, widths.at(i), utf8);
        line.push_back({column.right ? right(cell, widths.at(i)) : left(cell, widths.at(i)),
                        style_of(row, column.column)});
    }
    if (selected) {
        const std::string text = text_of(line);
        return {{left(text, width), Style::selected}};
    }
    return line;
}

}  // namespace cgpu::cgpuctl::top
