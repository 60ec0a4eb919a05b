#include <cstdio>
#include <exception>
#include <iostream>

#include <nlohmann/json.hpp>

#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/base/words.hpp"

/// Prints the table of verbs as JSON. `.ci/manual` writes the verbs' part of the manual from it.
namespace cgpu::cgpuctl {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const Option& option) {
    return {{"flags", spellings(option)}, {"value", option.placeholder}, {"help", option.help}};
}

Json as_json(const Verb& verb) {
    Json arguments = Json::array();
    for (const Argument& argument : verb.arguments)
        arguments.push_back(
            {{"name", argument.name}, {"help", argument.help}, {"optional", argument.optional}});
    Json options = Json::array();
    for (const Option& option : verb.options) options.push_back(as_json(option));
    return {{"name", verb.name},
            {"arguments", arguments},
            {"options", options},
            {"command", verb.command != nullptr},
            {"summary", verb.summary},
            {"details", verb.details},
            {"example", verb.example},
            {"local", verb.local},
            {"runs", verb.does.run != nullptr},
            {"has_verbs", !verb.verbs.empty()},
            {"usual", verb.usual}};
}

void print() {
    Json all = Json::array();
    for (const Verb& verb : verbs()) {
        all.push_back(as_json(verb));
        for (const Verb& within : verb.verbs) all.push_back(as_json(within));
    }
    std::cout << Json{{"verbs", all}, {"host", as_json(kHost)}}.dump(1) << std::endl;
}

}  // namespace
}  // namespace cgpu::cgpuctl

int main() {
    try {
        cgpu::cgpuctl::print();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cgpuctl_verbs: %s\n", error.what());
        return 1;
    }
}
