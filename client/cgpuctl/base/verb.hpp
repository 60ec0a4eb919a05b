#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

using client::ClientError;
using client::Result;

struct Argument {
    std::string_view name;  ///< as help shows it: GPU; of a list, of which there is one or more: FILE...
    Field field;
    std::string_view help;
    bool optional = false;

    [[nodiscard]] bool is_list() const { return name.ends_with("..."); }
};

struct Option {
    std::string_view flags;  ///< --json, or -q,--quiet
    Field field;
    std::string_view placeholder;  ///< what follows it: SIZE; empty for a switch
    std::string_view help;
};

/// What a verb does, with an input of its own.
struct Doing {
    std::unique_ptr<Input> (*make_input)();
    /// Null: it is answered when the command line is read (help, version).
    Result<void> (*run)(const Input&, client::Node&, Terminal&);
};

template <auto kRun, class Own>
constexpr Doing doing_of(Result<void> (*)(const Own&, client::Node&, Terminal&)) {
    return {[]() -> std::unique_ptr<Input> { return std::make_unique<Own>(); },
            [](const Input& input, client::Node& node, Terminal& terminal) {
                return kRun(dynamic_cast<const Own&>(input), node, terminal);
            }};
}

/// That of a verb's function: `does<&list>`.
template <auto kRun>
constexpr Doing does = doing_of<kRun>(kRun);

/// One verb of the command line.
struct Verb {
    std::string_view name;  ///< of a verb within another one both words: `module list`
    std::vector<Argument> arguments;
    std::vector<Option> options;
    Field command;             ///< what follows `--` is a command; null: none does
    std::string_view summary;  ///< a line in the list of verbs
    std::string_view details;  ///< more, in its own help and the manual, a paragraph a line; may be empty
    std::string_view example;
    Doing does;
    bool local = false;  ///< works on this machine only, and so not with --host
    /// The verbs within it, of which one follows; then it does nothing itself, and has no arguments and
    /// options.
    std::vector<Verb> verbs = {};
    std::string_view usual = {};  ///< the word of the one that is meant if none follows; empty: one must

    /// `list` of `module list`.
    [[nodiscard]] std::string_view word() const { return name.substr(name.rfind(' ') + 1); }
};

/// What all verbs have in common.
extern const Option kHost;

/// All of them, in the order of the help. The first is what a bare `cgpuctl` does.
[[nodiscard]] std::span<const Verb> verbs();
[[nodiscard]] const Verb* find_verb(std::string_view name);
/// One of the verbs within another one, by its word.
[[nodiscard]] const Verb* find_verb_in(const Verb& verb, std::string_view word);
/// Those that can be called: in the place of a verb that has others within it these.
[[nodiscard]] std::vector<const Verb*> called_verbs();

}  // namespace cgpu::cgpuctl
