#include "core/model/instance_word.hpp"

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

std::vector<std::size_t> meant_by(std::string_view word, std::span<const Named> instances) {
    std::vector<std::size_t> meant;
    std::optional<Meaning> how;
    for (std::size_t each = 0; each < instances.size(); ++each) {
        const auto its = meaning_of(word, instances[each]);
        if (!its || (how && *how < *its)) continue;
        if (how != its) meant.clear();
        how = its;
        meant.push_back(each);
    }
    return meant;
}

}  // namespace cgpu::model
