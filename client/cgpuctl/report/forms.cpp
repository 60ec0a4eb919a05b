#include "client/cgpuctl/report/forms.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "client/cgpuctl/output/csv.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"

namespace cgpu::cgpuctl::report {
namespace {

using history::By;
using history::Dimensions;
using history::Total;

const char* name_of(By by) {
    switch (by) {
        case By::name:
            return "name";
        case By::gpu:
            return "gpu";
        case By::day:
            return "day";
        case By::user:
            return "user";
    }
    return "";
}

bool has(const Dimensions& by, By one) { return std::ranges::find(by, one) != by.end(); }
bool has_owner(const Dimensions& by) { return has(by, By::name) || has(by, By::user); }
/// Users are rows already.
bool shows_owner(const Dimensions& by) { return has(by, By::name) && !has(by, By::user); }

std::string decimals(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// Refused requests had no GPU, so nothing could be measured.
std::string share(std::optional<double> share, const Total& total) {
    if (total.covered_us == 0) return "-";
    return share ? share_text(*share) : "native";
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

/// A column of CSV, and a key of JSON.
struct Figure {
    const char* name;
    /// Empty: unknown.
    std::optional<double> (*value)(const Total&);
    int digits;  ///< after the decimal point
};

constexpr int kNanos = 9;
constexpr int kMicros = 6;
const std::array kFigures = {
    Figure{"instances", [](const Total& t) { return std::optional(static_cast<double>(t.instances)); }, 0},
    Figure{"starts", [](const Total& t) { return std::optional(static_cast<double>(t.starts)); }, 0},
    Figure{"starts_refused",
           [](const Total& t) { return std::optional(static_cast<double>(t.refused_starts)); }, 0},
    Figure{"gpu_seconds", [](const Total& t) { return std::optional(seconds(t.gpu_ns)); }, kNanos},
    Figure{"reported_seconds", [](const Total& t) { return std::optional(seconds(t.reported_ns)); }, kNanos},
    Figure{"granted_seconds", [](const Total& t) { return std::optional(seconds(t.granted_ns)); }, kNanos},
    Figure{"due_seconds", [](const Total& t) { return std::optional(seconds(t.due_ns)); }, kNanos},
    Figure{"waited_seconds", [](const Total& t) { return std::optional(seconds(t.waited_ns)); }, kNanos},
    Figure{"share_due", [](const Total& t) { return t.share_due(); }, kMicros},
    Figure{"share_got", [](const Total& t) { return t.share_got(); }, kMicros},
    Figure{"launches", [](const Total& t) { return std::optional(static_cast<double>(t.launches)); }, 0},
    Figure{"memory_peak_bytes",
           [](const Total& t) { return std::optional(static_cast<double>(t.memory_peak)); }, 0},
    Figure{"memory_limit_bytes",
           [](const Total& t) { return std::optional(static_cast<double>(t.memory_limit)); }, 0},
    Figure{"memory_granted_gib_hours", [](const Total& t) { return std::optional(t.memory_granted); },
           kMicros},
    Figure{"memory_used_gib_hours", [](const Total& t) { return std::optional(t.memory_used); }, kMicros},
    Figure{"allocations_refused",
           [](const Total& t) { return std::optional(static_cast<double>(t.refused)); }, 0},
    Figure{"present_seconds",
           [](const Total& t) { return std::optional(static_cast<double>(t.covered_us) / 1e6); }, kMicros},
};

Json to_json(const Total& total, const Dimensions& by) {
    Json row = Json::object();
    for (std::size_t i = 0; i < by.size(); ++i) row[name_of(by[i])] = total.keys[i];
    if (has(by, By::gpu)) row["uuid"] = total.gpu;
    if (has_owner(by)) {
        row["owner"] = total.owner.user ? Json(*total.owner.user) : Json();
        row["declared_owner"] = total.owner.declared;
    }
    for (const Figure& figure : kFigures) {
        const auto value = figure.value(total);
        if (!value)
            row[figure.name] = nullptr;
        else if (figure.digits == 0)
            row[figure.name] = static_cast<std::uint64_t>(*value);
        else
            row[figure.name] = *value;
    }
    return row;
}

std::string head_of(By by) {
    std::string head = name_of(by);
    for (char& letter : head) letter = static_cast<char>(letter - 'a' + 'A');
    return head;
}

}  // namespace

Table to_table(const std::vector<Total>& totals, const Dimensions& by, UserNames& users) {
    std::vector<std::string> heads;
    for (const By one : by) heads.push_back(head_of(one));
    if (shows_owner(by)) heads.emplace_back("OWNER");
    for (const auto* head :
         {"STARTS", "DENIED", "GPU-TIME", "DUE", "GOT", "WAITED", "MEMORY-PEAK", "GIB-HOURS", "REFUSED"})
        heads.emplace_back(head);
    Table table(std::move(heads));
    for (const Total& total : totals) {
        std::vector<std::string> cells;
        for (const auto& key : total.keys) cells.push_back(shown_name(key));
        if (shows_owner(by)) cells.push_back(owner_text(total.owner.user, total.owner.declared, users));
        for (auto& cell : std::vector<std::string>{
                 std::to_string(total.starts), std::to_string(total.refused_starts),
                 decimals(seconds(total.gpu_ns), 2) + "s", share(total.share_due(), total),
                 share(total.share_got(), total), decimals(seconds(total.waited_ns), 2) + "s",
                 of_text(total.memory_peak, total.memory_limit),
                 decimals(total.memory_used, 2) + " / " + decimals(total.memory_granted, 2),
                 std::to_string(total.refused)})
            cells.push_back(std::move(cell));
        table.add(std::move(cells));
    }
    return table;
}

std::string to_csv(const std::vector<Total>& totals, const Dimensions& by) {
    std::string text;
    for (const By one : by) text += (text.empty() ? "" : ",") + std::string(name_of(one));
    if (has(by, By::gpu)) text += ",uuid";
    for (const Figure& figure : kFigures) text += std::string(",") + figure.name;
    if (has_owner(by)) text += ",owner,declared_owner";
    text += '\n';
    for (const Total& total : totals) {
        std::string line;
        for (const auto& key : total.keys) line += (line.empty() ? "" : ",") + csv_cell(key);
        if (has(by, By::gpu)) line += "," + total.gpu;
        for (const Figure& figure : kFigures) {
            line += ',';
            if (const auto value = figure.value(total)) line += decimals(*value, figure.digits);
        }
        if (has_owner(by))
            line += "," + (total.owner.user ? std::to_string(*total.owner.user) : std::string()) + "," +
                    csv_cell(total.owner.declared);
        text += line + '\n';
    }
    return text;
}

std::string to_json_text(const std::vector<Total>& totals, const Dimensions& by, const history::Span& span) {
    std::string names;
    for (const By one : by) names += (names.empty() ? "" : ",") + std::string(name_of(one));
    Json json = {{"since", static_cast<double>(span.from_us) / 1e6},
                 {"until", static_cast<double>(span.to_us) / 1e6},
                 {"by", names},
                 {"rows", Json::array()}};
    for (const Total& total : totals) json["rows"].push_back(to_json(total, by));
    return to_text(json);
}

}  // namespace cgpu::cgpuctl::report
