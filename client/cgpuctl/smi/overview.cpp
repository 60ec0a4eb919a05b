#include "client/cgpuctl/smi/overview.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/smi/figures.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

constexpr std::size_t kWidth = 79;
constexpr std::size_t kInside = kWidth - 4;  // without `| ` and ` |`

struct Column {
    std::string_view head;
    std::size_t width;
    bool right = false;
};

// Each with a blank behind it, kInside columns in all.
constexpr std::array<Column, 6> kGpu = {{{"GPU", 3, true},
                                         {"Name", 20},
                                         {"Policy", 12},
                                         {"Inst.", 5, true},
                                         {"Util", 5, true},
                                         {"Memory used/alloc./total", 25, true}}};
constexpr std::array<Column, 8> kInstance = {{{"GPU", 3, true},
                                              {"ID", 12},
                                              {"Name", 14},
                                              {"Procs", 5, true},
                                              {"Util", 5, true},
                                              {"Got", 5, true},
                                              {"Limit", 5, true},
                                              {"Memory used/limit", 19, true}}};

std::string padded(const std::string& text, const Column& column) {
    const std::string shown = cut(printable(text), column.width);
    const std::string blanks(column.width - text_width(shown), ' ');
    return column.right ? blanks + shown : shown + blanks;
}

std::string boxed(const std::string& text) {
    const std::string shown = cut(text, kInside);
    return "| " + shown + std::string(kInside - text_width(shown), ' ') + " |\n";
}

std::string line(char corner, char stroke) {
    return corner + std::string(kWidth - 2, stroke) + corner + "\n";
}

template <class Columns>
std::string row(const Columns& columns, const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i)
        text += (i == 0 ? "" : " ") + padded(cells[i], columns[i]);
    return boxed(text);
}

template <class Columns>
std::string heads(const Columns& columns) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const Column& column : columns) cells.emplace_back(column.head);
    return row(columns, cells);
}

std::string per_cent_or(std::optional<double> share) { return share ? per_cent_text(share) + "%" : "N/A"; }

std::string gpu_rows(const View* before, const View& now) {
    std::string text;
    for (const client::Gpu& gpu : now.snapshot.gpus)
        text +=
            row(kGpu, {gpu.present ? std::to_string(gpu.index) : "-", gpu.model,
                       gpu.present ? gpu.policy_name : "lost",
                       std::to_string(instances_on(now.snapshot, gpu)) + "/" + std::to_string(gpu.max_inst),
                       per_cent_or(utilization(gpu, before, now)),
                       mib_text(gpu.memory_used) + "/" + mib_text(gpu.memory_allocated) + "/" +
                           mib_text(gpu.memory_total) + "MiB"});
    return text;
}

/// `2`, or `2+1` if there are processes outside the module.
std::string processes_text(const client::Usage& usage) {
    const auto outside = usage.processes_outside.size();
    return std::to_string(usage.processes.size()) + (outside == 0 ? "" : "+" + std::to_string(outside));
}

std::string instance_rows(const View* before, const View& now) {
    std::string text;
    for (const client::Instance& instance : now.snapshot.instances) {
        for (const client::OnGpu& place : instance.gpus)
            text +=
                row(kInstance,
                    {std::to_string(place.quota.gpu_index), short_id(instance.id), instance.name,
                     processes_text(place.usage), per_cent_or(utilization(instance, place, before, now)),
                     per_cent_or(place.usage.achieved_share), per_cent_or(place.usage.target_share),
                     mib_text(place.usage.memory_used) + "/" + mib_text(place.quota.memory_limit) + "MiB"});
        for (const client::ForeignGpu& foreign : instance.foreign_gpus)
            text += row(kInstance, {std::to_string(foreign.index), short_id(instance.id), instance.name,
                                    processes_text(foreign.usage), "N/A", "N/A", "N/A",
                                    mib_text(foreign.usage.memory_used) + "/-"});
    }
    return text.empty() ? boxed("No instances.") : text;
}

bool has_outside(const client::Snapshot& snapshot) {
    const auto outside = [](const auto& place) { return !place.usage.processes_outside.empty(); };
    return std::ranges::any_of(snapshot.instances, [&](const client::Instance& instance) {
        return std::ranges::any_of(instance.gpus, outside) ||
               std::ranges::any_of(instance.foreign_gpus, outside);
    });
}

std::string span_text(const View& now) {
    if (!now.interval) return "2 s";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(now.interval->count()) / 1e9);
    return text.data();
}

}  // namespace

std::string overview(const View* before, const View& now) {
    const auto& module = now.snapshot.module_version;
    return time_text(now.taken) + "\n" + line('+', '-') +
           boxed("cgpud " + now.snapshot.version + ", module " + (module.empty() ? "none" : module)) +
           line('|', '-') + heads(kGpu) + line('|', '=') + gpu_rows(before, now) + line('+', '-') + "\n" +
           line('+', '-') + heads(kInstance) + line('|', '=') + instance_rows(before, now) + line('+', '-') +
           "Util: GPU time over the last " + span_text(now) + ". Got: over about 2 s. Limit: due now.\n" +
           (has_outside(now.snapshot) ? "Procs: +N are processes outside the module.\n" : "");
}

}  // namespace cgpu::cgpuctl::smi
