#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Which instance a word of a user means.
namespace cgpu::model {

/// An instance as users name it. Neither text is trusted: a user can choose both for an own instance.
struct Named {
    std::string_view id;
    std::string_view name;  ///< empty: it has none
    /// The unix user whose it is, verified. Empty: nobody known.
    std::optional<std::uint32_t> owner = std::nullopt;
};

/// How a word can mean an instance. An earlier way wins over all later ones. Engines and cgpuctl draw ids (32
/// hexadecimal digits or more), but callers of the bus may choose any: only a drawn id comes before names, so
/// neither a name nor a chosen id takes the place of another instance's name or id as it is shown.
enum class Meaning {
    whole_id,  ///< a drawn id
    short_id,  ///< the first 12 characters of a drawn id
    name,      ///< or a chosen id, whole: it is no more than a name
    prefix,    ///< the beginning of the id, at least 3 characters
    in_case,   ///< the name in another case
};

/// Whether an id has the form of a short id.
[[nodiscard]] bool looks_short(std::string_view id);

/// Whether an id has the form of those that engines and cgpuctl draw: at least 32 hexadecimal digits.
[[nodiscard]] bool looks_drawn(std::string_view id);

/// Empty: the word doesn't mean this instance.
[[nodiscard]] std::optional<Meaning> meaning_of(std::string_view word, const Named& instance);

/// The places of those that the word means, all in the same, earliest way. More than one: it is ambiguous.
/// Whoever isn't root means the own ones of these, so that nobody's name gets ambiguous by a name that
/// another user chooses. `user`: who says the word; empty: it isn't known.
[[nodiscard]] std::vector<std::size_t> meant_by(std::string_view word, std::span<const Named> instances,
                                                std::optional<std::uint32_t> user = std::nullopt);

/// Whether the word resembles no more than the instance of another user, who didn't choose it to be called
/// so: by less of its id than is shown, or by its name in another case. What changes an instance must not
/// take it for one that the word meant before, and that has ended.
constexpr std::string_view kOnlyResembles =
    "no instance has this name or id, and the one that resembles it is another user's";
[[nodiscard]] bool only_resembles(std::string_view word, const Named& instance,
                                  std::optional<std::uint32_t> user);

}  // namespace cgpu::model
