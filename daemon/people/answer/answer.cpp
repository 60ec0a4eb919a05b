#include "daemon/people/answer/answer.hpp"

#include <charconv>
#include <cstdint>

namespace cgpu::people {
namespace {

std::optional<std::uint32_t> to_id(std::string_view text) {
    std::uint32_t id = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, id);
    if (error != std::errc{} || end != last || text.empty()) return std::nullopt;
    return id;
}

/// The texts before each NUL. Empty: something follows the last one.
std::optional<std::vector<std::string_view>> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (auto end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    if (!text.empty()) return std::nullopt;
    return parts;
}

}  // namespace

std::string write_answer(const app::Person& person) {
    std::string text = person.user ? std::to_string(*person.user) : std::string();
    text += '\0' + person.name + '\0' + std::to_string(person.groups.size()) + '\0';
    for (const auto& group : person.groups) text += std::to_string(group.id) + '\0' + group.name + '\0';
    return text;
}

std::optional<app::Person> read_answer(std::string_view text) {
    const auto parts = split(text);
    if (!parts || parts->size() < 3) return std::nullopt;
    const auto groups = to_id((*parts)[2]);
    if (!groups || parts->size() != 3 + std::size_t{2} * *groups) return std::nullopt;
    app::Person person;
    if (!parts->front().empty()) {
        person.user = to_id(parts->front());
        if (!person.user) return std::nullopt;
    }
    person.name = (*parts)[1];
    for (std::size_t at = 3; at < parts->size(); at += 2) {
        const auto id = to_id((*parts)[at]);
        if (!id) return std::nullopt;
        person.groups.push_back({*id, std::string((*parts)[at + 1])});
    }
    return person;
}

}  // namespace cgpu::people
