#include "client/cgpuctl/report/period.hpp"

#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>

#include "client/cgpuctl/events/since.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl::report {
namespace {

constexpr std::uint64_t kUsOfSecond = 1'000'000;

/// The parts of a date, of which those that are out of range are brought in by mktime(3).
struct Date {
    int year = 0;
    int month = 1;
    int day = 1;
};

Date date_of(std::uint64_t us) {
    const auto seconds = static_cast<std::time_t>(us / kUsOfSecond);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday};
}

std::uint64_t begin_of(const Date& date) {
    std::tm parts{};
    parts.tm_year = date.year - 1900;
    parts.tm_mon = date.month - 1;
    parts.tm_mday = date.day;
    parts.tm_isdst = -1;
    const auto seconds = std::mktime(&parts);
    return seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds) * kUsOfSecond;
}

history::Span between(const Date& from, const Date& to) { return {begin_of(from), begin_of(to)}; }

/// How many days ago the week began.
int days_since_monday(std::uint64_t us) {
    const auto seconds = static_cast<std::time_t>(us / kUsOfSecond);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return (parts.tm_wday + 6) % 7;
}

std::optional<history::Span> relative(std::string_view text, std::uint64_t now) {
    const Date today = date_of(now);
    const auto day = [&](int before) { return Date{today.year, today.month, today.day - before}; };
    const int monday = days_since_monday(now);
    if (text == "today") return between(day(0), day(-1));
    if (text == "yesterday") return between(day(1), day(0));
    if (text == "this week") return between(day(monday), day(monday - 7));
    if (text == "last week") return between(day(monday + 7), day(monday));
    if (text == "this month") return between({today.year, today.month, 1}, {today.year, today.month + 1, 1});
    if (text == "last month") return between({today.year, today.month - 1, 1}, {today.year, today.month, 1});
    if (text == "this year") return between({today.year, 1, 1}, {today.year + 1, 1, 1});
    if (text == "last year") return between({today.year - 1, 1, 1}, {today.year, 1, 1});
    return std::nullopt;
}

/// Digits of exactly this width.
std::optional<int> number(std::string_view text, std::size_t width) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.size() != width || error != std::errc() || end != text.data() + text.size() || value <= 0)
        return std::nullopt;
    return value;
}

std::optional<history::Span> of_calendar(std::string_view text) {
    const auto year = number(text.substr(0, 4), 4);
    if (!year || *year < 1970) return std::nullopt;
    if (text.size() == 4) return between({*year, 1, 1}, {*year + 1, 1, 1});
    const auto month = text.size() >= 7 && text[4] == '-' ? number(text.substr(5, 2), 2) : std::nullopt;
    if (!month || *month > 12) return std::nullopt;
    if (text.size() == 7) return between({*year, *month, 1}, {*year, *month + 1, 1});
    const auto day = text.size() == 10 && text[7] == '-' ? number(text.substr(8, 2), 2) : std::nullopt;
    if (!day) return std::nullopt;
    const Date date{*year, *month, *day};
    const Date found = date_of(begin_of(date));
    if (found.month != *month || found.day != *day) return std::nullopt;  // such as February the 30th
    return between(date, {*year, *month, *day + 1});
}

}  // namespace

client::Result<history::Span> parse_period(const std::string& text, std::uint64_t now) {
    const auto small = model::lowered(text);
    const auto trimmed = model::trimmed(small);
    if (const auto span = relative(with_spaces(trimmed), now)) return *span;
    if (const auto span = of_calendar(trimmed)) return *span;
    return client::fail(client::ClientError::Kind::usage,
                        "--period " + model::quote(text) +
                            ": it is no part of the calendar. Try: last-week, this-month, 2026-01 or "
                            "2026-01-31.");
}

}  // namespace cgpu::cgpuctl::report
