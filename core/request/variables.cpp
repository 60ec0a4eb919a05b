#include "core/request/variables.hpp"

#include <algorithm>
#include <charconv>

#include "core/model/quote.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::request {
namespace {

using Reason = model::Refusal::Reason;

}  // namespace

std::optional<std::string_view> find_trimmed(const Variables& variables, std::string_view name) {
    const auto it = variables.find(std::string(name));
    if (it == variables.end()) return std::nullopt;
    return model::trimmed(it->second);
}

std::optional<std::string_view> find_value(const Variables& variables, std::string_view name) {
    const auto value = find_trimmed(variables, name);
    return value && value->empty() ? std::nullopt : value;
}

std::vector<std::string_view> split_list(std::string_view text) {
    std::vector<std::string_view> parts;
    for (auto comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
        parts.push_back(model::trimmed(text.substr(0, comma)));
        text.remove_prefix(comma + 1);
    }
    parts.push_back(model::trimmed(text));
    return parts;
}

std::vector<std::string_view> split_names(std::string_view text) {
    auto names = split_list(text);
    const auto is_empty = [](std::string_view name) { return name.empty(); };
    if (!std::ranges::all_of(names, is_empty)) std::erase_if(names, is_empty);
    return names;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
    std::uint64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc{} || end != last) return std::nullopt;
    return value;
}

std::string assignment(std::string_view name, std::string_view value) {
    return std::string(name) + "=" + model::quote(value);
}

tl::unexpected<model::Refusal> refuse_value(std::string_view name, std::string_view value,
                                            std::string_view why, std::string_view remedy) {
    return model::refuse(Reason::invalid, assignment(name, value), why, remedy);
}

tl::unexpected<model::Refusal> refuse_conflict(const Variables& variables, std::string_view a,
                                               std::string_view b) {
    return model::refuse(Reason::invalid,
                         assignment(a, find_trimmed(variables, a).value_or("")) + " and " +
                             assignment(b, find_trimmed(variables, b).value_or("")),
                         "they ask for different things", "set only one of the two");
}

tl::expected<std::optional<std::uint32_t>, model::Refusal> read_number(const Variables& variables,
                                                                       std::string_view name,
                                                                       std::uint32_t low,
                                                                       std::uint32_t high) {
    const auto text = find_value(variables, name);
    if (!text) return std::nullopt;
    const auto number = to_number(*text);
    const std::string range =
        "use a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    if (!number) return refuse_value(name, *text, "it is not a whole number", range);
    if (*number < low || *number > high) return refuse_value(name, *text, "it is out of range", range);
    return static_cast<std::uint32_t>(*number);
}

tl::expected<std::optional<bool>, model::Refusal> read_bool(const Variables& variables, std::string_view name,
                                                            std::string_view yes, std::string_view no) {
    const auto text = find_value(variables, name);
    if (!text) return std::nullopt;
    std::string lower(*text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (lower == "1" || lower == yes) return true;
    if (lower == "0" || lower == no) return false;
    return refuse_value(name, *text, "it is neither " + std::string(yes) + " nor " + std::string(no),
                        "1 or " + std::string(yes) + ", 0 or " + std::string(no));
}

}  // namespace cgpu::request
