#include "client/cgpuctl/base/command_line.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>

#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/node/remote_host.hpp"
#include "core/model/quote.hpp"
#include "core/model/trimmed.hpp"
#include "core/request/request.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = ClientError::Kind;

constexpr std::size_t kHelpColumns = 100;

constexpr const char* kAbout =
    "Shares NVIDIA GPUs between containers and jobs, each with a memory limit and a part of the compute.\n"
    "Without a verb, cgpuctl does the same as cgpuctl status.";

constexpr const char* kFooter =
    "Exit codes: 0 done, 1 a fault, 2 wrong usage, 3 no such GPU, instance or version, 4 refused (the\n"
    "message says why and what to try), 77 not authorized, 101 the daemon is not reachable. run exits with\n"
    "the exit code of its command; 126 if the command can't be executed, 127 if it doesn't exist.\n"
    "NO_COLOR=1 turns colours off.\n"
    "\n"
    "Examples:\n"
    "  cgpuctl\n"
    "  cgpuctl run --mem 4GiB -- python3 train.py\n"
    "  cgpuctl help VERB";

const Verb& verb_of(const CLI::App& app) {
    const CLI::App& parent = *app.get_parent();
    if (parent.get_parent() == nullptr) return *find_verb(app.get_name());
    return *find_verb_in(verb_of(parent), app.get_name());
}

/// Help that uses the table's words for verbs, and has an exact usage line.
class HelpFormatter final : public CLI::Formatter {
  public:
    HelpFormatter() {
        label("Positionals", "Arguments");
        label("REQUIRED", "");
    }
    std::string make_usage(const CLI::App* app, std::string) const override {
        if (app->get_parent() == nullptr) return "Usage: cgpuctl [VERB] [OPTIONS]\n";
        const Verb& verb = verb_of(*app);
        std::string usage = "Usage: cgpuctl " + std::string(verb.name);
        if (!verb.verbs.empty()) return usage + (verb.usual.empty() ? " VERB" : " [VERB]") + " [OPTIONS]\n";
        usage += " [OPTIONS]";
        for (const Argument& argument : verb.arguments) {
            const std::string name(argument.name);
            usage += argument.optional ? " [" + name + "]" : " " + name;
        }
        return usage + (verb.command != nullptr ? " -- COMMAND [ARGUMENT]..." : "") + "\n";
    }
    /// CLI11 adds dots to lists, which the table's names have themselves.
    std::string make_option_opts(const CLI::Option* option) const override {
        return option->get_positional() ? "" : Formatter::make_option_opts(option);
    }
};

std::vector<Option> options_of(const Verb& verb) {
    std::vector<Option> options = verb.options;
    options.push_back(kHost);
    return options;
}

std::string& text_in(Input& input, Field field) { return *std::get<std::string*>(field(input)); }

std::vector<std::string>& list_in(Input& input, Field field) {
    return *std::get<std::vector<std::string>*>(field(input));
}

/// The list takes the arguments behind it, too: they are divided once all are read (take_last_arguments).
void declare(CLI::App& app, const Argument& argument, Input& input, bool behind_list) {
    const std::string name(argument.name);
    const std::string help(argument.help);
    CLI::Option* option = argument.is_list() ? app.add_option(name, list_in(input, argument.field), help)
                                             : app.add_option(name, text_in(input, argument.field), help);
    option->required(!argument.optional && !behind_list)->type_name("");
}

/// Error (usage): there are too few.
Result<void> take_last_arguments(const Verb& verb, Input& input) {
    if (verb.arguments.empty() || !verb.arguments.front().is_list()) return {};
    std::vector<std::string>& words = list_in(input, verb.arguments.front().field);
    for (auto argument = verb.arguments.rbegin(); argument + 1 != verb.arguments.rend(); ++argument) {
        if (words.size() < 2)
            return client::fail(Kind::usage, "cgpuctl " + std::string(verb.name) + ": " +
                                                 std::string(argument->name) + " is required. Try: cgpuctl " +
                                                 std::string(verb.name) + " --help.");
        text_in(input, argument->field) = words.back();
        words.pop_back();
    }
    return {};
}

void declare(CLI::App& app, const Option& option, Input& input) {
    const std::string flags(option.flags);
    const std::string help(option.help);
    if (option.placeholder.empty())
        app.add_flag(flags, *std::get<bool*>(option.field(input)), help);
    else
        app.add_option(flags, text_in(input, option.field), help)->type_name(std::string(option.placeholder));
}

/// A paragraph a line, in lines as long as help has them.
std::string in_lines(std::string_view paragraphs) {
    std::istringstream in{std::string(paragraphs)};
    std::string text;
    for (std::string paragraph; std::getline(in, paragraph);)
        for (const std::string& line : wrapped(paragraph, kHelpColumns)) text += line + "\n";
    return text;
}

/// One for each verb, because CLI11 knows the options of all; only that of the called one is filled.
using Inputs = std::map<const Verb*, std::unique_ptr<Input>>;

/// The inputs must outlive the parsing, which fills their fields.
void declare(CLI::App& app, const Verb& verb, const Inputs& inputs) {
    CLI::App* sub = app.add_subcommand(std::string(verb.word()), std::string(verb.summary));
    sub->group("Verbs");
    sub->footer((verb.details.empty() ? "" : in_lines(verb.details) + "\n") + "Example:\n  " +
                std::string(verb.example));
    for (const Verb& within : verb.verbs) declare(*sub, within, inputs);
    if (!verb.verbs.empty()) return;
    Input& input = *inputs.at(&verb);
    bool behind_list = false;
    for (const Argument& argument : verb.arguments) {
        declare(*sub, argument, input, behind_list);
        behind_list = behind_list || argument.is_list();
    }
    for (const Option& option : options_of(verb)) declare(*sub, option, input);
    if (verb.local) sub->get_option("--host")->group("");
}

Result<std::vector<std::string>> take_command(const Verb& verb, std::vector<std::string>& arguments) {
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    if (mark == arguments.end() || mark + 1 == arguments.end())
        return client::fail(Kind::usage, "cgpuctl " + std::string(verb.name) +
                                             ": the command is missing. Try: " + std::string(verb.example) +
                                             " (the command stands after --).");
    std::vector<std::string> command(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
    return command;
}

/// An option whose value may be left out (`--wait`) is given the value that stands for that.
void complete_options(const Verb& verb, std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool last = i + 1 == arguments.size();
        if (!last && !arguments[i + 1].starts_with('-')) continue;
        const auto is_meant = [&](const Option& option) {
            return option.placeholder.starts_with('[') &&
                   std::ranges::count(spellings(option), arguments[i]) > 0;
        };
        if (std::ranges::any_of(verb.options, is_meant))
            arguments[i] += "=" + std::string(request::kWaitForever);
    }
}

bool wants_help(const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments) {
        if (argument == "--") return false;
        if (argument == "--help" || argument == "-h") return true;
    }
    return false;
}

/// Options before the verb belong to the verb, so the verb is moved to the front. A word that is no verb
/// stays where it is, so that the error names it.
void put_verb_first(std::vector<std::string>& arguments) {
    if (arguments.empty() || !arguments.front().starts_with('-')) return;
    if (arguments.front() == "--version" || arguments.front() == "-V") return;
    if (const auto place = place_of_verb(arguments)) {
        const auto verb = arguments.begin() + static_cast<std::ptrdiff_t>(*place);
        std::rotate(arguments.begin(), verb, verb + 1);
    }
}

/// `help VERB` is `VERB --help`, and so on. Everything else stays.
void replace_help_and_version(std::vector<std::string>& arguments) {
    const auto is = [&](std::size_t at, std::initializer_list<std::string_view> words) {
        return arguments.size() > at && std::ranges::count(words, arguments[at]) > 0;
    };
    const bool asks_itself = is(1, {"--help", "-h"});
    if (arguments.size() == 1 && is(0, {"version"})) arguments = {"--version"};
    if (arguments.size() == 1 && is(0, {"help"})) arguments = {"--help"};
    const Verb* verb = is(0, {"help"}) && arguments.size() > 1 ? find_verb(arguments[1]) : nullptr;
    const bool within = verb != nullptr && !verb->verbs.empty() && arguments.size() == 3;
    if ((arguments.size() == 2 && is(0, {"help"}) && !asks_itself) || within) {
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
}

tl::unexpected<ClientError> no_such_verb(const std::string& word) {
    const auto likely = likely_verb(verbs(), word);
    return client::fail(Kind::usage, "cgpuctl " + model::quote(word) +
                                         ": there is no such verb. Try: cgpuctl " +
                                         (likely.empty() ? "help" : std::string(likely)) + ".");
}

/// Of the verbs within the one in front the one that is called, whose word is moved behind that one; the verb
/// itself if it has none, or if only its help is wanted. Error (usage).
Result<const Verb*> put_verb_within_second(const Verb& verb, std::vector<std::string>& arguments) {
    if (verb.verbs.empty()) return &verb;
    const auto place = place_of_verb_in(arguments, 0);
    if (!place && wants_help(arguments)) return &verb;
    const std::string call = "cgpuctl " + std::string(verb.name);
    if (!place && verb.usual.empty())
        return client::fail(Kind::usage, call + ": what it is to do is missing. Try: " + call + " --help.");
    if (!place) {
        arguments.insert(arguments.begin() + 1, std::string(verb.usual));
        return find_verb_in(verb, verb.usual);
    }
    const std::string word = arguments[*place];
    if (const Verb* within = find_verb_in(verb, word)) {
        const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(*place);
        std::rotate(arguments.begin() + 1, at, at + 1);
        return within;
    }
    const auto likely = likely_verb(verb.verbs, word);
    return client::fail(Kind::usage, call + " " + model::quote(word) +
                                         ": there is no such action. Try: " + call + " " +
                                         (likely.empty() ? "--help" : std::string(likely)) + ".");
}

/// A word that CLI11 took for an option and that is none of the verb's; empty: all are its options.
std::string unknown_option(const CLI::App& app) {
    for (const std::string& word : app.remaining(true))
        if (word.size() > 1 && word.starts_with('-')) return word.substr(0, word.find('='));
    return {};
}

ClientError wrong_usage(const Verb& verb, bool bare, const CLI::App& app, const CLI::Error& error) {
    const std::string call = bare ? "cgpuctl" : "cgpuctl " + std::string(verb.name);
    if (const std::string unknown = unknown_option(app); !unknown.empty()) {
        const auto likely = likely_option(verb, unknown);
        return {Kind::usage, call + " " + model::quote(unknown) +
                                 (is_option(unknown) ? ": this verb has no such option. Try: "
                                                     : ": there is no such option. Try: ") +
                                 (likely.empty() ? call + " --help." : std::string(likely) + ".")};
    }
    return {Kind::usage, call + ": " + error.what() + ". Try: " + call + " --help."};
}

std::vector<std::string_view> given_options(const Verb& verb, const CLI::App& parsed) {
    std::vector<std::string_view> given;
    for (const Option& option : options_of(verb))
        if (const auto longest = spellings(option).back();
            parsed.get_option(std::string(longest))->count() > 0)
            given.push_back(longest);
    return given;
}

/// Error (usage): an option or an argument is empty or blank, as `--mem "$SIZE"` is where SIZE isn't set. It
/// must not mean the same as none. A job may have an empty name, which is none.
Result<void> check_none_empty(const Verb& verb, const CLI::App& parsed, Input& input) {
    const auto refuse = [&](std::string_view what) {
        const std::string call = "cgpuctl " + std::string(verb.name);
        const bool limits = verb.command != nullptr;
        return client::fail(Kind::usage, call + ": " + std::string(what) + " is empty. Try: give it a value" +
                                             (limits ? ", leave it out, or set CGPU_DISABLE=1 to have no "
                                                       "limit."
                                                     : ", or leave it out."));
    };
    const auto is_blank = [](const std::string& text) { return model::trimmed(text).empty(); };
    const auto is_empty = [&](const std::string& name, Field field) {
        return parsed.get_option(name)->count() > 0 && is_blank(text_in(input, field));
    };
    for (const Argument& argument : verb.arguments) {
        if (argument.is_list()) {
            if (std::ranges::any_of(list_in(input, argument.field), is_blank)) return refuse(argument.name);
            continue;
        }
        // CLI11 doesn't count those behind a list, and they are required.
        if (argument.optional ? is_empty(std::string(argument.name), argument.field)
                              : is_blank(text_in(input, argument.field)))
            return refuse(argument.name);
    }
    for (const Option& option : options_of(verb)) {
        const std::string_view longest = spellings(option).back();
        if (!option.placeholder.empty() && longest != "--name" &&
            is_empty(std::string(longest), option.field))
            return refuse(longest);
    }
    return {};
}

/// Whether the verb can be carried out on the machine that --host names. Error (usage).
Result<void> check_place(const Call& call) {
    if (call.input->host.empty()) return {};
    if (auto good = client::check_host(call.input->host); !good) return good;
    if (!call.verb->local) return {};
    return client::fail(Kind::usage, "cgpuctl " + std::string(call.verb->name) +
                                         ": it works on this machine only. Try: ssh " + call.input->host +
                                         " cgpuctl " + std::string(call.verb->name) + ".");
}

/// CLI11 leaves an empty line for the group of options that are hidden.
std::string without_empty_groups(std::string help) {
    for (auto gap = help.find("\n\n\n"); gap != std::string::npos; gap = help.find("\n\n\n", gap))
        help.erase(gap, 1);
    return help;
}

}  // namespace

Result<std::variant<Call, Print>> read_command_line(std::vector<std::string> arguments) {
    put_verb_first(arguments);
    replace_help_and_version(arguments);
    const bool bare = arguments.empty() || arguments.front().starts_with('-');
    const Verb* first = bare ? &verbs().front() : find_verb(arguments.front());
    if (first == nullptr) return no_such_verb(arguments.front());
    const auto called = put_verb_within_second(*first, arguments);
    if (!called) return tl::unexpected(called.error());
    const Verb* verb = *called;
    Inputs inputs;
    for (const Verb* each : called_verbs()) inputs[each] = each->does.make_input();
    std::unique_ptr<Input>& own = inputs[verb];
    if (verb->command != nullptr && !wants_help(arguments)) {
        auto command = take_command(*verb, arguments);
        if (!command) return tl::unexpected(command.error());
        list_in(*own, verb->command) = std::move(*command);
    }
    complete_options(*verb, arguments);

    CLI::App app(kAbout, "cgpuctl");
    app.set_version_flag("-V,--version", std::string("cgpuctl ") + CGPU_VERSION, "print the version");
    app.set_help_flag("-h,--help", "print this help");
    app.footer(kFooter);
    app.formatter(std::make_shared<HelpFormatter>());  // the verbs below inherit it
    for (const Option& option : options_of(verbs().front()))
        declare(app, option, *inputs.at(&verbs().front()));
    for (const Verb& each : verbs()) declare(app, each, inputs);
    try {
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        app.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        return Print{without_empty_groups(app.help())};
    } catch (const CLI::CallForVersion& version) {
        return Print{std::string(version.what()) + "\n"};
    } catch (const CLI::Error& error) {
        return tl::unexpected(wrong_usage(*verb, bare, app, error));
    }
    if (auto taken = take_last_arguments(*verb, *own); !taken) return tl::unexpected(taken.error());
    const CLI::App* parsed = bare ? &app : app.get_subcommand(std::string(first->name));
    if (verb != first) parsed = parsed->get_subcommand(std::string(verb->word()));
    if (auto given = check_none_empty(*verb, *parsed, *own); !given) return tl::unexpected(given.error());
    Call call{verb, std::move(own), given_options(*verb, *parsed)};
    if (auto placed = check_place(call); !placed) return tl::unexpected(placed.error());
    // help and version with words that they don't take
    if (verb->does.run == nullptr)
        return client::fail(Kind::usage, "cgpuctl " + std::string(verb->name) +
                                             ": it takes nothing else. Try: cgpuctl help.");
    return call;
}

}  // namespace cgpu::cgpuctl
