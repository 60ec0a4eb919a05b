// report: who had the GPUs, from the history that cgpud keeps.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/report/forms.hpp"
#include "client/cgpuctl/report/local_time.hpp"
#include "client/cgpuctl/report/plot_parts.hpp"
#include "client/cgpuctl/report/request.hpp"
#include "client/cgpuctl/report/svg.hpp"
#include "core/history/ring.hpp"
#include "core/history/series.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using client::Result;
using history::By;
using report::Request;
using Records = std::vector<history::Record>;

constexpr std::size_t kMostParts = 96;
constexpr std::uint64_t kDayUs = std::uint64_t{86'400} * 1'000'000;
/// Plots of at most so long a time show the seconds.
constexpr std::uint64_t kSecondsUpTo = std::uint64_t{600} * 1'000'000;

std::uint64_t now_us() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

Result<Records> read_records(client::Node& node) {
    const auto file = node.read_history();
    if (!file) return tl::unexpected(file.error());
    auto reading = history::read_ring(*file);
    switch (reading.kind) {
        case history::RingKind::empty:
        case history::RingKind::ring:
            return std::move(reading.records);
        case history::RingKind::newer:
            return client::fail(ClientError::Kind::failed,
                                "history: a newer version of cgpud wrote it. Try: cgpuctl of that version.");
        case history::RingKind::foreign:
            break;
    }
    return client::fail(
        ClientError::Kind::failed,
        "history: what cgpud keeps is no history. Try: systemctl restart cgpud, which begins a new one.");
}

/// From the first record, and until the last one, where nothing else was asked for. That may be later than
/// now: the clock was ahead when it was written.
history::Span span_of(const Request& request, const Records& records) {
    auto span = request.span;
    if (!request.from_beginning || records.empty()) return span;
    span.from_us = records.front().begin_us;
    for (const auto& record : records) {
        span.from_us = std::min(span.from_us, record.begin_us);
        if (request.until_now) span.to_us = std::max(span.to_us, record.end_us());
    }
    span.to_us = std::max(span.to_us, span.from_us + 1);
    return span;
}

/// Clocks of two machines (`-H`) differ by less.
constexpr std::uint64_t kAheadUs = std::uint64_t{10} * 1'000'000;

void warn_of_a_clock_that_was_ahead(const Request& request, const Records& records, std::uint64_t now,
                                    Terminal& terminal) {
    std::size_t ahead = 0;
    std::uint64_t last = 0;
    for (const auto& record : records) {
        if (record.end_us() <= now + kAheadUs) continue;
        ++ahead;
        last = std::max(last, record.end_us());
    }
    if (ahead == 0) return;
    const auto said = std::to_string(ahead) + (ahead == 1 ? " record is" : " records are") +
                      " of a time that is still to come, until " + report::minute_text(last) +
                      ": the clock was ahead when cgpud wrote " + (ahead == 1 ? "it" : "them");
    if (request.from_beginning && request.until_now)
        terminal.warning(said + ". The report counts " + (ahead == 1 ? "it." : "them."));
    else
        terminal.warning(said +
                         ", and they count only where the asked time has them. Try: cgpuctl report "
                         "without --since and --until.");
}

/// Records that a full ring has lost can't be told from a time without any.
void warn(const Request& request, const Records& records, const std::vector<history::Total>& totals,
          std::uint64_t now, Terminal& terminal) {
    if (records.empty()) {
        terminal.warning("The history has no records yet: cgpud writes them at the end of each interval.");
        return;
    }
    const auto& oldest = records.front();
    if (!request.from_beginning && oldest.number > 1 && oldest.begin_us > request.span.from_us)
        terminal.warning("The history begins at " + report::minute_text(oldest.begin_us) +
                         ": older records have been overwritten.");
    warn_of_a_clock_that_was_ahead(request, records, now, terminal);
    if (totals.empty())
        terminal.warning("Nothing had a GPU in this time, or the history has no record of it.");
}

std::string rows_are(By by) {
    switch (by) {
        case By::name:
            return "name";
        case By::gpu:
            return "GPU";
        case By::day:
            return "day";
        case By::user:
            return "user";
    }
    return {};
}

/// Rows that are users are shown by their names.
template <class Rows>
void name_users(Rows& rows, UserNames& users) {
    for (auto& row : rows) row.key = owner_text(row.owner.user, row.owner.declared, users);
}

/// A plot has one text for each row.
template <class Rows>
void add_owners(Rows& rows) {
    std::map<std::string, int> times;
    for (const auto& row : rows) ++times[row.key];
    for (auto& row : rows)
        if (times[row.key] > 1)
            row.key += " (" + (row.owner == model::Owner{} ? "no owner known" : describe(row.owner)) + ")";
}

std::string plot_of(const Request& request, const history::Span& span, const Records& records,
                    std::vector<history::Total> totals, UserNames& users) {
    const auto parts = report::plot_parts(span, request.by == By::day, kMostParts);
    // Days are the time axis already.
    const auto by = request.by == By::day ? By::name : request.by;
    report::Plot plot;
    plot.title =
        "GPU time from " + report::minute_text(span.from_us) + " to " + report::minute_text(span.to_us);
    plot.span = parts.span;
    plot.part = parts.length;
    plot.series = history::series(records, parts.span, by, report::day_text, parts.count);
    if (by == By::gpu)
        for (auto& series : plot.series) series.key.insert(0, "GPU ");
    if (by == By::gpu)
        for (auto& total : totals) total.key.insert(0, "GPU ");
    if (by == By::user) name_users(plot.series, users);
    if (by == By::name) add_owners(plot.series);
    if (by == By::name) add_owners(totals);
    plot.totals = std::move(totals);
    plot.rows = rows_are(request.by);
    const auto length = parts.span.to_us - parts.span.from_us;
    plot.label = length > 2 * kDayUs     ? report::day_text
                 : length > kSecondsUpTo ? report::clock_text
                                         : report::second_text;
    return report::to_svg(plot);
}

Result<void> write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (file) return {};
    return client::fail(
        ClientError::Kind::failed,
        "--svg " + model::quote(path) + ": it can't be written. Try: use a folder that you may write to.");
}

}  // namespace

Result<void> report_verb(const Input& input, client::Node& node, Terminal& terminal) {
    const auto now = now_us();
    const auto request = report::parse_request(input, now);
    if (!request) return tl::unexpected(request.error());
    const auto records = read_records(node);
    if (!records) return tl::unexpected(records.error());
    const auto span = span_of(*request, *records);
    auto totals = history::totals(*records, span, request->by, report::day_text);
    UserNames users(input.host.empty());
    if (request->by == By::user) name_users(totals, users);
    warn(*request, *records, totals, now, terminal);
    if (!request->svg.empty()) {
        const auto text = plot_of(*request, span, *records, totals, users);
        if (request->svg == "-") {
            terminal.out() << text;
            return {};
        }
        if (auto written = write_file(request->svg, text); !written) return written;
    }
    switch (request->form) {
        case Request::Form::table:
            report::to_table(totals, request->by, users).print(terminal, !input.no_legend);
            break;
        case Request::Form::csv:
            terminal.out() << report::to_csv(totals, request->by);
            break;
        case Request::Form::json:
            terminal.out() << report::to_json_text(totals, request->by, span);
            break;
    }
    return {};
}

}  // namespace cgpu::cgpuctl
