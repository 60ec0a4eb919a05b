#include "core/model/instance_word.hpp"

#include <algorithm>

#include "core/model/similar.hpp"

namespace cgpu::model {
namespace {

constexpr std::size_t kShortId = 12;
constexpr std::size_t kShortestPrefix = 3;
constexpr std::size_t kShortestDrawn = 32;

bool is_hexadecimal(std::string_view id) {
    return id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

bool looks_drawn(std::string_view id) { return id.size() >= kShortestDrawn && is_hexadecimal(id); }

bool looks_short(std::string_view id) { return id.size() == kShortId && is_hexadecimal(id); }

std::optional<Meaning> meaning_of(std::string_view word, const Named& instance) {
    if (word.empty()) return std::nullopt;
    const bool drawn = looks_drawn(instance.id);
    if (instance.id == word) return drawn ? Meaning::whole_id : Meaning::name;
    const bool begins = instance.id.starts_with(word);
    if (begins && drawn && word.size() == kShortId) return Meaning::short_id;
    if (instance.name == word) return Meaning::name;
    if (begins && word.size() >= kShortestPrefix) return Meaning::prefix;
    if (instance.name.size() == word.size() && lowered(instance.name) == lowered(word))
        return Meaning::in_case;
    return std::nullopt;
}

std::vector<std::size_t> meant_by(std::string_view word, std::span<const Named> instances,
                                  std::optional<std::uint32_t> user) {
    std::vector<std::size_t> meant;
    std::optional<Meaning> how;
    for (std::size_t each = 0; each < instances.size(); ++each) {
        const auto its = meaning_of(word, instances[each]);
        if (!its || (how && *how < *its)) continue;
        if (how != its) meant.clear();
        how = its;
        meant.push_back(each);
    }
    const auto is_own = [&](std::size_t each) { return instances[each].owner == user; };
    if (user.value_or(0) != 0 && std::ranges::any_of(meant, is_own))
        std::erase_if(meant, [&](std::size_t each) { return !is_own(each); });
    return meant;
}

bool only_resembles(std::string_view word, const Named& instance, std::optional<std::uint32_t> user) {
    const auto how = meaning_of(word, instance);
    // As many characters as are shown of every id are no chance.
    const bool is_loose = how == Meaning::in_case || (how == Meaning::prefix && word.size() < kShortId);
    return is_loose && instance.owner && instance.owner != user;
}

}  // namespace cgpu::model
