#include "client/cgpuctl/base/words.hpp"

#include <algorithm>

#include "core/model/gpu_word.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

bool is_spelled(const Option& option, std::string_view word) {
    return std::ranges::count(spellings(option), word) > 0;
}

}  // namespace

std::vector<std::string_view> spellings(const Option& option) {
    const auto comma = option.flags.find(',');
    if (comma == std::string_view::npos) return {option.flags};
    return {option.flags.substr(0, comma), option.flags.substr(comma + 1)};
}

bool takes_value(std::string_view word) {
    if (!word.starts_with('-')) return false;
    if (is_spelled(kHost, word)) return true;
    return std::ranges::any_of(called_verbs(), [&](const Verb* verb) {
        return std::ranges::any_of(verb->options, [&](const Option& option) {
            return !option.placeholder.empty() && is_spelled(option, word);
        });
    });
}

bool takes_no_value(std::string_view word) {
    return std::ranges::any_of(called_verbs(), [&](const Verb* verb) {
        return std::ranges::any_of(verb->options, [&](const Option& option) {
            return option.placeholder.empty() && is_spelled(option, word);
        });
    });
}

bool is_option(std::string_view word) {
    return word.starts_with('-') && (takes_value(word) || takes_no_value(word));
}

std::optional<std::size_t> place_of_verb(std::span<const std::string> words) {
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (find_verb(words[i]) != nullptr) return i;
        // -d of one verb has a value, and that of another one has none: then a verb behind it isn't its
        // value.
        const bool verb_follows = i + 1 < words.size() && find_verb(words[i + 1]) != nullptr;
        if (takes_value(words[i]) && !(verb_follows && takes_no_value(words[i]))) ++i;
    }
    return std::nullopt;
}

std::optional<std::size_t> place_of_verb_in(std::span<const std::string> words, std::size_t verb) {
    for (std::size_t i = verb + 1; i < words.size() && words[i] != "--"; ++i) {
        if (!words[i].starts_with('-')) return i;
        if (takes_value(words[i]) && !takes_no_value(words[i])) ++i;
    }
    return std::nullopt;
}

bool names_a_gpu(std::string_view word) {
    return word.starts_with("GPU-") || model::parse_gpu_word(word).has_value();
}

std::string_view likely_verb(std::span<const Verb> verbs, std::string_view word) {
    std::vector<std::string_view> words;
    for (const Verb& verb : verbs) words.push_back(verb.word());
    return model::most_similar(word, words);
}

std::string_view likely_option(const Verb& verb, std::string_view word) {
    std::vector<std::string_view> names = {"--help"};
    for (const Option& option : verb.options) names.push_back(spellings(option).back());
    if (!verb.local) names.push_back(spellings(kHost).back());
    const auto bare = [](std::string_view option) { return option.substr(option.find_first_not_of('-')); };
    const bool is_letter = word.size() == 2 && word[1] != '-';
    if (word.find_first_not_of('-') == std::string_view::npos) return {};
    // Another length of the same word first: --memory, --gpu and -m are far from --mem and --gpus by letters.
    for (const std::string_view name : names) {
        const bool longer = bare(word).starts_with(bare(name)) && bare(name).size() > 2;
        const bool shorter = bare(name).starts_with(bare(word)) && (is_letter || bare(word).size() > 2);
        if (longer || shorter) return name;
    }
    // What is an option of other verbs is no typo.
    return is_letter || is_option(word) ? std::string_view() : model::most_similar(word, names);
}

}  // namespace cgpu::cgpuctl
