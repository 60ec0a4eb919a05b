#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

using client::ClientError;
using client::Result;

struct Argument {
    std::string_view name;                                                        ///< as help shows it: GPU
    std::variant<std::string Input::*, std::vector<std::string> Input::*> value;  ///< a list: one or more
    std::string_view help;
    bool optional = false;
};

struct Option {
    std::string_view flags;  ///< --json, or -q,--quiet
    std::variant<bool Input::*, std::string Input::*> value;
    std::string_view placeholder;  ///< what follows it: SIZE; empty for a switch
    std::string_view help;
};

/// One verb of the command line.
struct Verb {
    std::string_view name;
    std::vector<Argument> arguments;
    std::vector<Option> options;
    bool takes_command;        ///< what follows `--` is a command
    std::string_view summary;  ///< a line in the list of verbs
    std::string_view details;  ///< more, in its own help and the manual, a paragraph a line; may be empty
    std::string_view example;
    /// Null: it is answered when the command line is read (help, version).
    Result<void> (*run)(const Input&, client::Node&, Terminal&);
    bool local = false;  ///< works on this machine only, and so not with --host
};

/// What all verbs have in common.
extern const Option kHost;

/// All of them, in the order of the help. The first is what a bare `cgpuctl` does.
[[nodiscard]] std::span<const Verb> verbs();
[[nodiscard]] const Verb* find_verb(std::string_view name);

}  // namespace cgpu::cgpuctl
