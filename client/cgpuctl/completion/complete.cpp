#include "client/cgpuctl/completion/complete.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>

#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/completion/values.hpp"

namespace cgpu::cgpuctl {
namespace {

using Candidates = std::vector<Candidate>;

/// The option of the verb that the word spells, and that takes a value.
const Option* option_with_value(const Verb& verb, std::string_view word) {
    const auto is = [&](const Option& option) {
        return !option.placeholder.empty() && std::ranges::count(spellings(option), word) > 0;
    };
    if (!verb.local && is(kHost)) return &kHost;
    const auto found = std::ranges::find_if(verb.options, is);
    return found == verb.options.end() ? nullptr : &*found;
}

/// Whether the word spells an option of the verb that takes no value, whatever it is in other verbs.
bool is_switch_of(const Verb& verb, std::string_view word) {
    return std::ranges::any_of(verb.options, [&](const Option& option) {
        return option.placeholder.empty() && std::ranges::count(spellings(option), word) > 0;
    });
}

Candidates options_of(const Verb& verb, bool bare) {
    Candidates all;
    const auto add = [&](const Option& option) {
        for (const std::string_view each : spellings(option))
            all.push_back({std::string(each), std::string(option.help)});
    };
    for (const Option& option : verb.options) add(option);
    if (!verb.local) add(kHost);
    for (const char* each : {"-h", "--help"}) all.push_back({each, "print help"});
    if (bare)
        for (const char* each : {"-V", "--version"}) all.push_back({each, "print the version"});
    return all;
}

/// The arguments before the cursor: neither options nor their values, nor the verb.
std::vector<std::string> arguments_in(std::span<const std::string> words, const Verb& verb,
                                      std::initializer_list<std::optional<std::size_t>> places) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (takes_value(words[i]) && !is_switch_of(verb, words[i]))
            ++i;
        else if (std::ranges::count(places, std::optional(i)) == 0 && !words[i].starts_with('-'))
            arguments.push_back(words[i]);
    }
    return arguments;
}

Candidates values_of_argument(const Verb& verb, const std::vector<std::string>& before, client::Node& node) {
    if (verb.arguments.empty()) return {};
    const bool list = verb.arguments.front().is_list();
    if (!list) {
        if (before.size() >= verb.arguments.size()) return {};
        return values_of(verb.arguments[before.size()].name, verb.name, node);
    }
    // After the first instance the word may be another one, or the last argument.
    Candidates all = values_of(verb.arguments.front().name, verb.name, node);
    std::erase_if(all, [&](const Candidate& each) { return std::ranges::count(before, each.word) > 0; });
    if (!before.empty() && verb.arguments.size() > 1)
        for (Candidate& value : values_of(verb.arguments.back().name, verb.name, node))
            all.push_back(std::move(value));
    return all;
}

Candidates words_of(std::span<const Verb> verbs) {
    Candidates all;
    for (const Verb& verb : verbs) all.push_back({std::string(verb.word()), std::string(verb.summary)});
    return all;
}

/// For the word at the cursor, whatever has been typed of it.
Candidates all_for(std::span<const std::string> before, std::string_view current, client::Node& node) {
    const auto place = place_of_verb(before);
    const Verb* called = place ? find_verb(before[*place]) : &verbs().front();
    std::optional<std::size_t> place_within;
    if (!called->verbs.empty()) {
        place_within = place_of_verb_in(before, *place);
        if (!place_within && !current.starts_with('-')) return words_of(called->verbs);
        if (!place_within && called->usual.empty()) return options_of(*called, false);
        called = find_verb_in(*called, place_within ? before[*place_within] : std::string(called->usual));
        if (called == nullptr) return {};
    }
    const Verb& verb = *called;
    if (std::ranges::count(before, "--") > 0) {
        // Not a conditional expression with a list in it: GCC 16 takes the list for one that is used after
        // its end.
        if (verb.command == nullptr) return {};
        return {{kCommand, ""}};
    }
    if (!before.empty() && takes_value(before.back()) && !is_switch_of(verb, before.back())) {
        const Option* option = option_with_value(verb, before.back());
        return option == nullptr ? Candidates() : values_of(option->placeholder, verb.name, node);
    }
    if (current.starts_with('-')) return options_of(verb, !place);
    if (!place) return values_of("VERB", "", node);
    return values_of_argument(verb, arguments_in(before, verb, {place, place_within}), node);
}

bool is_for_the_shell(const Candidate& candidate) { return candidate.word.starts_with(':'); }

}  // namespace

std::vector<Candidate> complete(const std::vector<std::string>& words, client::Node& node) {
    const std::string current = words.empty() ? "" : words.back();
    const auto before = std::span(words).first(words.empty() ? 0 : words.size() - 1);
    Candidates all = all_for(before, current, node);
    std::erase_if(all, [&](const Candidate& each) {
        return !is_for_the_shell(each) && !each.word.starts_with(current);
    });
    return all;
}

std::string to_lines(const std::vector<Candidate>& candidates) {
    std::string lines;
    for (const Candidate& each : candidates) lines += each.word + "\t" + each.about + "\n";
    return lines;
}

}  // namespace cgpu::cgpuctl
