#include <algorithm>
#include <vector>

#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/verb_lists.hpp"

namespace cgpu::cgpuctl {
namespace {

struct HelpInput : Input {
    std::string verb;
};

/// When the command line is read.
template <class Own>
Doing is_answered() {
    return {[]() -> std::unique_ptr<Input> { return std::make_unique<Own>(); }, nullptr};
}

std::span<const Verb> own_verbs() {
    static const std::vector<Verb> verbs = {
        {"help",
         {{"VERB", field<&HelpInput::verb>, "a verb; without it, all verbs are listed", true}},
         {},
         nullptr,
         "Print help, also of one verb",
         "",
         "cgpuctl help set-weight",
         is_answered<HelpInput>(),
         true},
        {"version", {}, {}, nullptr, "Print the version", "", "cgpuctl version", is_answered<Input>(), true},
    };
    return verbs;
}

const std::vector<Verb>& table() {
    static const std::vector<Verb> verbs = [] {
        std::vector<Verb> all;
        for (const auto& list : {looking_verbs(), changing_verbs(), node_verbs(), own_verbs()})
            all.insert(all.end(), list.begin(), list.end());
        return all;
    }();
    return verbs;
}

}  // namespace

const Option kHost{"-H,--host", field<&Input::host>, "HOST",
                   "do it on another machine, over ssh and systemd-stdio-bridge: user@machine"};

std::span<const Verb> verbs() { return table(); }

const Verb* find_verb(std::string_view name) {
    const auto found = std::ranges::find(table(), name, &Verb::name);
    return found == table().end() ? nullptr : &*found;
}

const Verb* find_verb_in(const Verb& verb, std::string_view word) {
    const auto found =
        std::ranges::find_if(verb.verbs, [&](const Verb& each) { return each.word() == word; });
    return found == verb.verbs.end() ? nullptr : &*found;
}

std::vector<const Verb*> called_verbs() {
    std::vector<const Verb*> called;
    for (const Verb& verb : table()) {
        if (verb.verbs.empty()) called.push_back(&verb);
        for (const Verb& within : verb.verbs) called.push_back(&within);
    }
    return called;
}

}  // namespace cgpu::cgpuctl
