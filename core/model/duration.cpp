#include "core/model/duration.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace cgpu::model {
namespace {

struct Unit {
    char letter;
    std::uint64_t seconds;
};
constexpr std::array<Unit, 4> kUnits = {{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};

constexpr std::uint64_t kHour = 3600;
constexpr std::uint64_t kDay = 86400;

std::string parts(std::uint64_t seconds, std::uint64_t large, char large_name, std::uint64_t small,
                  char small_name) {
    std::string text = std::to_string(seconds / large) + large_name;
    if (const auto rest = seconds % large / small; rest > 0) text += std::to_string(rest) + small_name;
    return text;
}

}  // namespace

tl::expected<std::uint64_t, std::string> parse_duration(std::string_view text) {
    const auto no = [](const char* why) { return tl::unexpected(std::string(why)); };
    std::uint64_t sum = 0;
    std::size_t next = 0;  // the largest unit that may come
    if (text.empty()) return no("it is empty");
    while (!text.empty()) {
        std::uint64_t number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, number);
        if (error == std::errc::invalid_argument) return no("it is no duration");
        if (error != std::errc{} || number > kLongestDuration) return no("it is too long");
        if (end == last) return no("it has no unit");
        while (next < kUnits.size() && kUnits[next].letter != *end) ++next;
        if (next == kUnits.size()) return no("it is no duration");
        sum += number * kUnits[next++].seconds;
        if (sum > kLongestDuration) return no("it is too long");
        text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    }
    if (sum == 0) return no("it is no time at all");
    return sum;
}

std::string exact_duration(std::uint64_t seconds) {
    if (seconds == 0) return "0s";
    std::string text;
    // Hours up to two days, as people say.
    const bool days = seconds >= 2 * kDay;
    for (const auto& [letter, length] : kUnits) {
        if (length == kDay && !days) continue;
        if (const auto number = seconds / length; number > 0) text += std::to_string(number) + letter;
        seconds %= length;
    }
    return text;
}

std::string format_duration(std::uint64_t seconds) {
    if (seconds >= 2 * kDay) return parts(seconds, kDay, 'd', kHour, 'h');
    if (seconds >= kHour) return parts(seconds, kHour, 'h', 60, 'm');
    if (seconds >= 60) return parts(seconds, 60, 'm', 1, 's');
    return std::to_string(seconds) + "s";
}

}  // namespace cgpu::model
