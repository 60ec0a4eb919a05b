// report: who had the GPUs, from the history that cgpud keeps.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "client/cgpuctl/report/forms.hpp"
#include "client/cgpuctl/report/local_time.hpp"
#include "client/cgpuctl/report/plot_parts.hpp"
#include "client/cgpuctl/report/report.hpp"
#include "client/cgpuctl/report/request.hpp"
#include "client/cgpuctl/report/svg.hpp"
#include "core/history/day_sums.hpp"
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

/// Of a file of the history.
Result<Records> records_of(const Result<std::vector<std::byte>>& file) {
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

struct Known {
    Records records;                           ///< with the sums of days of which some aren't kept
    std::optional<std::uint64_t> lost_before;  ///< nothing is kept of that time; microseconds since 1970
};

Result<Known> read_known(client::Node& node) {
    // The sums first: cgpud writes an interval's records before it adds them up, and a sum that had more than
    // the records would be that of lost ones.
    auto sums = records_of(node.read_days());
    if (!sums) return tl::unexpected(sums.error());
    auto records = records_of(node.read_history());
    if (!records) return tl::unexpected(records.error());
    const bool lost_records = !records->empty() && records->front().number > 1;
    const bool lost_sums = sums->empty() || sums->front().number > 1;
    Known known{history::joined(std::move(*records), std::move(*sums)), std::nullopt};
    if (lost_records && lost_sums) known.lost_before = known.records.front().begin_us;
    return known;
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
    if (request.until_now)
        span.to_us = std::max(span.to_us, span.from_us + 1);
    else  // nothing is from before the first record
        span.from_us = std::min(span.from_us, span.to_us - 1);
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
void warn(const Request& request, const Known& known, const std::vector<history::Total>& totals,
          std::uint64_t now, Terminal& terminal) {
    const auto& records = known.records;
    if (records.empty()) {
        terminal.warning("The history has no records yet: cgpud writes them at the end of each interval.");
        return;
    }
    if (!request.from_beginning && known.lost_before && *known.lost_before > request.span.from_us)
        terminal.warning("The history begins at " + report::minute_text(*known.lost_before) +
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
void name_users(std::vector<history::Total>& totals, const history::Dimensions& by, UserNames& users) {
    for (auto& total : totals)
        for (std::size_t i = 0; i < by.size(); ++i)
            if (by[i] == By::user) total.keys[i] = owner_text(total.owner.user, total.owner.declared, users);
}

/// A plot has one text for each row.
template <class Rows, class Key>
void add_owners(Rows& rows, Key key) {
    std::map<std::string, int> times;
    for (auto& row : rows) ++times[key(row)];
    for (auto& row : rows)
        if (times[key(row)] > 1)
            key(row) += " (" + (row.owner == model::Owner{} ? "no owner known" : describe(row.owner)) + ")";
}

/// `by`: what the rows are, one dimension.
std::string plot_of(const Request& request, const history::Span& span, const Records& records,
                    std::vector<history::Total> totals, UserNames& users) {
    const auto rows = request.by.front();
    const auto parts = report::plot_parts(span, rows == By::day, kMostParts);
    // Days are the time axis already.
    const auto by = rows == By::day ? By::name : rows;
    report::Plot plot;
    plot.title =
        "GPU time from " + report::minute_text(span.from_us) + " to " + report::minute_text(span.to_us);
    plot.span = parts.span;
    plot.part = parts.length;
    plot.series = history::series(records, parts.span, by, report::day_text, parts.count);
    const auto of_total = [](history::Total& total) -> std::string& { return total.keys.front(); };
    const auto of_series = [](history::Series& series) -> std::string& { return series.key; };
    if (by == By::gpu) {
        for (auto& series : plot.series) series.key.insert(0, "GPU ");
        for (auto& total : totals) of_total(total).insert(0, "GPU ");
    }
    if (by == By::user)
        for (auto& series : plot.series)
            series.key = owner_text(series.owner.user, series.owner.declared, users);
    if (by == By::name) add_owners(plot.series, of_series);
    if (by == By::name) add_owners(totals, of_total);
    plot.totals = std::move(totals);
    plot.rows = rows_are(rows);
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

Result<void> report_verb(const ReportInput& input, client::Node& node, Terminal& terminal) {
    const auto now = now_us();
    const auto request = report::parse_request(input, now);
    if (!request) return tl::unexpected(request.error());
    const auto known = read_known(node);
    if (!known) return tl::unexpected(known.error());
    const auto span = span_of(*request, known->records);
    auto totals = history::totals(known->records, span, request->by, report::day_text);
    UserNames users(input.host.empty());
    name_users(totals, request->by, users);
    warn(*request, *known, totals, now, terminal);
    if (!request->svg.empty()) {
        const auto text = plot_of(*request, span, known->records, totals, users);
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
