#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/base/verb.hpp"

/// The words of a command line before they are parsed.
namespace cgpu::cgpuctl {

/// The spellings of an option: `-q` and `--quiet` of `-q,--quiet`.
[[nodiscard]] std::vector<std::string_view> spellings(const Option& option);

/// Whether the next word is the value of the option that this one spells, in any verb that has it.
[[nodiscard]] bool takes_value(std::string_view word);

/// Whether the option that this word spells is a switch in some verb.
[[nodiscard]] bool takes_no_value(std::string_view word);

/// Whether this word spells an option of some verb.
[[nodiscard]] bool is_option(std::string_view word);

/// Where the verb stands, before a `--`; values of options before it are none. Empty: there is none.
[[nodiscard]] std::optional<std::size_t> place_of_verb(std::span<const std::string> words);

/// Where the word stands that says which of the verbs within the one at `verb` is meant. Empty: there is
/// none.
[[nodiscard]] std::optional<std::size_t> place_of_verb_in(std::span<const std::string> words,
                                                          std::size_t verb);

/// Whether the word can only mean a GPU, not an instance: an index or a UUID.
[[nodiscard]] bool names_a_gpu(std::string_view word);

/// The word of the verb that was most likely meant; empty: none is similar.
[[nodiscard]] std::string_view likely_verb(std::span<const Verb> verbs, std::string_view word);

/// The option of the verb, in its longest spelling, that was most likely meant by a word that is none:
/// `--mem` for `--memory`, `--memroy` and `-m`. Empty: none is similar.
[[nodiscard]] std::string_view likely_option(const Verb& verb, std::string_view word);

}  // namespace cgpu::cgpuctl
