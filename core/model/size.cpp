#include "core/model/size.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

namespace cgpu::model {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t bytes;
};
constexpr std::uint64_t kKib = 1024;
constexpr std::array kUnits = {
    Unit{"tib", kKib* kKib* kKib* kKib},
    Unit{"ti", kKib* kKib* kKib* kKib},
    Unit{"tb", kKib* kKib* kKib* kKib},
    Unit{"t", kKib* kKib* kKib* kKib},
    Unit{"gib", kKib* kKib* kKib},
    Unit{"gi", kKib* kKib* kKib},
    Unit{"gb", kKib* kKib* kKib},
    Unit{"g", kKib* kKib* kKib},
    Unit{"mib", kKib* kKib},
    Unit{"mi", kKib* kKib},
    Unit{"mb", kKib* kKib},
    Unit{"m", kKib* kKib},
    Unit{"kib", kKib},
    Unit{"ki", kKib},
    Unit{"kb", kKib},
    Unit{"k", kKib},
    Unit{"b", 1},
};

/// More digits after the point could overflow the exact arithmetic below.
constexpr std::size_t kMaxFractionDigits = 6;

constexpr const char* kNoSize = "it is not a size, a number with a unit";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    return n;
}

std::optional<std::uint64_t> to_number(std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> unit_bytes(std::string_view name) {
    std::string lower;
    for (const char c : name) lower += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
    for (const Unit& unit : kUnits)
        if (unit.name == lower) return unit.bytes;
    return std::nullopt;
}

}  // namespace

tl::expected<Bytes, std::string> parse_size(std::string_view text) {
    if (text == "0") return Bytes{};
    const std::string_view whole = text.substr(0, count_digits(text));
    std::string_view rest = text.substr(whole.size());
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
        fraction = rest.substr(1, count_digits(rest.substr(1)));
        rest.remove_prefix(1 + fraction.size());
        if (fraction.empty()) return tl::unexpected(std::string(kNoSize));
    }
    if (whole.empty()) return tl::unexpected(std::string(kNoSize));
    if (rest.empty()) return tl::unexpected(std::string("the unit is missing"));
    if (rest.front() == ' ') rest.remove_prefix(1);
    const auto unit = unit_bytes(rest);
    if (!unit) return tl::unexpected(std::string("the unit is none of KiB, MiB, GiB and TiB"));
    const auto number = to_number(whole);
    if (!number || *number > std::numeric_limits<std::int64_t>::max() / *unit)
        return tl::unexpected(std::string("the number is too large"));
    if (fraction.size() > kMaxFractionDigits)
        return tl::unexpected(std::string("it has more than 6 digits after the point"));
    std::uint64_t scale = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i) scale *= 10;
    const std::uint64_t part = to_number(fraction).value_or(0) * *unit;
    if (part % scale != 0) return tl::unexpected(std::string("it is not a whole number of bytes"));
    return Bytes(*number * *unit + part / scale);
}

std::string format_size(Bytes size) {
    const std::uint64_t count = size.count();
    if (count != 0 && count % Bytes::kPerGib == 0) return std::to_string(count / Bytes::kPerGib) + "GiB";
    if (count != 0 && count % Bytes::kPerMib == 0) return std::to_string(count / Bytes::kPerMib) + "MiB";
    if (count != 0 && count % kKib == 0) return std::to_string(count / kKib) + "KiB";
    return std::to_string(count) + "B";
}

std::string format_mib(Bytes size) { return std::to_string(size.mib()) + "MiB"; }

std::string format_mib_up(Bytes size) {
    const std::uint64_t rest = size.count() % Bytes::kPerMib;
    const std::uint64_t tenths = (rest * 10 + Bytes::kPerMib - 1) / Bytes::kPerMib;
    if (tenths == 0) return format_mib(size);
    if (tenths == 10) return std::to_string(size.mib() + 1) + "MiB";
    return std::to_string(size.mib()) + "." + std::to_string(tenths) + "MiB";
}

}  // namespace cgpu::model
