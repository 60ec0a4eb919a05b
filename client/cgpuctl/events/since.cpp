#include "client/cgpuctl/events/since.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "core/model/quote.hpp"
#include "core/model/similar.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
/// Longer ago than any journal; it also keeps the sums small.
constexpr std::uint64_t kMostOfUnit = 1'000'000;
constexpr std::uint64_t kMostSeconds = std::uint64_t{1} << 40U;  ///< of a time since 1970

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 18> kUnits = {{
    {"s", kSecond},
    {"sec", kSecond},
    {"second", kSecond},
    {"seconds", kSecond},
    {"m", kMinute},
    {"min", kMinute},
    {"minute", kMinute},
    {"minutes", kMinute},
    {"h", kHour},
    {"hr", kHour},
    {"hour", kHour},
    {"hours", kHour},
    {"d", kDay},
    {"day", kDay},
    {"days", kDay},
    {"w", 7 * kDay},
    {"week", 7 * kDay},
    {"weeks", 7 * kDay},
}};

template <class Is>
std::string_view take_while(std::string_view& text, Is is) {
    std::size_t length = 0;
    while (length < text.size() && is(text[length])) ++length;
    const auto taken = text.substr(0, length);
    text.remove_prefix(length);
    return taken;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// `1h 30min` in microseconds.
std::optional<std::uint64_t> duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    while (!text.empty()) {
        const auto digits = take_while(text, is_digit);
        text = model::trimmed(text);
        const auto name = take_while(text, is_letter);
        text = model::trimmed(text);
        std::uint64_t count = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
        const auto* unit = std::find_if(kUnits.begin(), kUnits.end(),
                                        [name](const auto& each) { return each.first == name; });
        if (digits.empty() || error != std::errc() || count > kMostOfUnit || unit == kUnits.end())
            return std::nullopt;
        sum += count * unit->second;
    }
    return sum;
}

std::optional<std::uint64_t> before(std::uint64_t now, std::optional<std::uint64_t> span) {
    if (!span) return std::nullopt;
    return now > *span ? now - *span : 0;
}

std::tm local(std::uint64_t now) {
    const auto seconds = static_cast<time_t>(now / kSecond);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

std::optional<std::uint64_t> moment(std::tm parts, bool utc) {
    parts.tm_isdst = -1;
    const time_t seconds = utc ? timegm(&parts) : mktime(&parts);
    if (seconds < 0) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * kSecond;
}

/// The beginning of the day, some days ago.
std::optional<std::uint64_t> day(std::uint64_t now, int days_ago) {
    auto parts = local(now);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_mday -= days_ago;
    return moment(parts, false);
}

/// The beginning of the last day of this name, today included, or of a part of the calendar.
std::optional<std::uint64_t> named_day(std::string_view text, std::uint64_t now) {
    static constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                              "thursday", "friday", "saturday"};
    const auto today = local(now).tm_wday;
    const auto back_to = [&](int weekday) { return (today - weekday + 7) % 7; };
    for (int weekday = 0; weekday < 7; ++weekday) {
        const auto name = kDays[static_cast<std::size_t>(weekday)];
        if (text == name || text == name.substr(0, 3)) return day(now, back_to(weekday));
    }
    if (text == "this week") return day(now, back_to(1));
    if (text == "last week") return day(now, back_to(1) + 7);
    auto parts = local(now);
    if (text == "this month") return day(now, parts.tm_mday - 1);
    if (text != "last month") return std::nullopt;
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_mday = 1;
    --parts.tm_mon;
    return moment(parts, false);
}

/// mktime(3) would take February the 30th for March the 2nd.
bool is_in_calendar(std::tm parts) {
    const auto day = parts.tm_mday;
    const auto month = parts.tm_mon;
    return timegm(&parts) >= 0 && parts.tm_mday == day && parts.tm_mon == month;
}

/// A date, a time of the day or both.
std::optional<std::uint64_t> calendar(std::string text, std::uint64_t now) {
    const bool utc = text.ends_with('z') || text.ends_with(" utc");
    if (utc) text = text.substr(0, text.find_first_of("zu"));
    const std::string plain(model::trimmed(text));
    constexpr std::array kForms = {
        "%Y-%m-%dt%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dt%H:%M", "%Y-%m-%d %H:%M",
        "%Y-%m-%d",          "%H:%M:%S",          "%H:%M"};
    for (const std::string_view form : kForms) {
        auto parts = local(now);
        parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
        const char* end = strptime(plain.c_str(), form.data(), &parts);
        if (end != nullptr && *end == '\0') return is_in_calendar(parts) ? moment(parts, utc) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parsed(std::string_view text, std::uint64_t now) {
    if (text == "now") return now;
    if (text == "today") return day(now, 0);
    if (text == "yesterday") return day(now, 1);
    if (const auto begin = named_day(with_spaces(text), now)) return begin;
    if (text.starts_with('-')) return before(now, duration(model::trimmed(text.substr(1))));
    if (text.ends_with(" ago")) return before(now, duration(model::trimmed(text.substr(0, text.size() - 4))));
    if (text.starts_with('@')) {
        std::uint64_t seconds = 0;
        const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), seconds);
        if (error != std::errc() || end != text.data() + text.size() || seconds > kMostSeconds)
            return std::nullopt;
        return seconds * kSecond;
    }
    if (const auto span = duration(text)) return before(now, span);
    return calendar(std::string(text), now);
}

}  // namespace

std::string with_spaces(std::string_view text) {
    std::string spaced(text);
    std::ranges::replace(spaced, '-', ' ');
    return spaced;
}

client::Result<std::uint64_t> parse_since(const std::string& text, std::uint64_t now,
                                          std::string_view option) {
    const auto small = model::lowered(text);
    if (const auto time = parsed(model::trimmed(small), now)) return *time;
    return client::fail(client::ClientError::Kind::usage,
                        std::string(option) + " " + model::quote(text) +
                            ": it is no time. Try: 10min, 1h, monday, yesterday or \"2026-01-31 08:15\".");
}

}  // namespace cgpu::cgpuctl
