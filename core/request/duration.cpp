#include "core/request/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace cgpu::request {
namespace {

struct Unit {
    char letter;
    std::int64_t seconds;
};

constexpr std::array<Unit, 4> kUnits = {{{'d', 86'400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
constexpr std::int64_t kMostSeconds = kLongestDuration / model::kSecond;

}  // namespace

tl::expected<model::Nanos, std::string> parse_duration(std::string_view text) {
    const tl::unexpected<std::string> none("it is no time with its unit");
    std::int64_t seconds = 0;
    std::size_t next_unit = 0;
    if (text.empty()) return none;
    while (!text.empty()) {
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (error == std::errc::result_out_of_range)
            return tl::unexpected<std::string>("it is longer than a year");
        if (error != std::errc{} || text.empty()) return none;
        while (next_unit < kUnits.size() && kUnits[next_unit].letter != text.front()) ++next_unit;
        if (next_unit == kUnits.size()) return none;
        text.remove_prefix(1);
        seconds += number * kUnits[next_unit++].seconds;
    }
    if (seconds > kMostSeconds) return tl::unexpected<std::string>("it is longer than a year");
    if (seconds == 0) return tl::unexpected<std::string>("it is no time at all");
    return seconds * model::kSecond;
}

std::string format_duration(model::Nanos duration) {
    std::int64_t seconds = duration / model::kSecond;
    std::string text;
    for (const auto& unit : kUnits) {
        if (const auto number = seconds / unit.seconds; number > 0)
            text += std::to_string(number) + unit.letter;
        seconds %= unit.seconds;
    }
    return text.empty() ? "0s" : text;
}

}  // namespace cgpu::request
