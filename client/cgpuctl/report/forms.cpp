#include "client/cgpuctl/report/forms.hpp"

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

bool has_owner(By by) { return by == By::name || by == By::user; }

std::string decimals(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string share(std::optional<double> share) { return share ? share_text(*share) : "native"; }

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
    Figure{"allocations_refused",
           [](const Total& t) { return std::optional(static_cast<double>(t.refused)); }, 0},
    Figure{"present_seconds",
           [](const Total& t) { return std::optional(static_cast<double>(t.covered_us) / 1e6); }, kMicros},
};

Json to_json(const Total& total, By by) {
    Json row = {{name_of(by), total.key}};
    if (by == By::gpu) row["uuid"] = total.gpu;
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

}  // namespace

Table to_table(const std::vector<Total>& totals, By by, UserNames& users) {
    std::string head = name_of(by);
    for (char& letter : head) letter = static_cast<char>(letter - 'a' + 'A');
    std::vector<std::string> heads = {head,  "INSTANCES", "GPU-TIME",    "DUE",
                                      "GOT", "WAITED",    "MEMORY-PEAK", "REFUSED"};
    if (by == By::name) heads.insert(heads.begin() + 1, "OWNER");
    Table table(std::move(heads));
    for (const Total& total : totals) {
        std::vector<std::string> cells = {shown_name(total.key),
                                          std::to_string(total.instances),
                                          decimals(seconds(total.gpu_ns), 2) + "s",
                                          share(total.share_due()),
                                          share(total.share_got()),
                                          decimals(seconds(total.waited_ns), 2) + "s",
                                          of_text(total.memory_peak, total.memory_limit),
                                          std::to_string(total.refused)};
        if (by == By::name)
            cells.insert(cells.begin() + 1, owner_text(total.owner.user, total.owner.declared, users));
        table.add(std::move(cells));
    }
    return table;
}

std::string to_csv(const std::vector<Total>& totals, By by) {
    std::string text = name_of(by);
    if (by == By::gpu) text += ",uuid";
    for (const Figure& figure : kFigures) text += std::string(",") + figure.name;
    if (has_owner(by)) text += ",owner,declared_owner";
    text += '\n';
    for (const Total& total : totals) {
        text += csv_cell(total.key);
        if (by == By::gpu) text += "," + total.gpu;
        for (const Figure& figure : kFigures) {
            text += ',';
            if (const auto value = figure.value(total)) text += decimals(*value, figure.digits);
        }
        if (has_owner(by))
            text += "," + (total.owner.user ? std::to_string(*total.owner.user) : std::string()) + "," +
                    csv_cell(total.owner.declared);
        text += '\n';
    }
    return text;
}

std::string to_json_text(const std::vector<Total>& totals, By by, const history::Span& span) {
    Json json = {{"since", static_cast<double>(span.from_us) / 1e6},
                 {"until", static_cast<double>(span.to_us) / 1e6},
                 {"by", name_of(by)},
                 {"rows", Json::array()}};
    for (const Total& total : totals) json["rows"].push_back(to_json(total, by));
    return to_text(json);
}

}  // namespace cgpu::cgpuctl::report
