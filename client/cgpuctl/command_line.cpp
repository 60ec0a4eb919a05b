#include "client/cgpuctl/command_line.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = ClientError::Kind;

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
    "  cgpuctl VERB --help";

/// Help that uses the table's words for verbs, and has an exact usage line.
class HelpFormatter final : public CLI::Formatter {
  public:
    HelpFormatter() {
        label("Positionals", "Arguments");
        label("REQUIRED", "");
    }
    std::string make_usage(const CLI::App* app, std::string) const override {
        if (app->get_parent() == nullptr) return "Usage: cgpuctl [VERB] [OPTIONS]\n";
        const Verb& verb = *find_verb(app->get_name());
        std::string usage = "Usage: cgpuctl " + std::string(verb.name) + " [OPTIONS]";
        for (const Argument& argument : verb.arguments) {
            const std::string name(argument.name);
            usage += argument.optional ? " [" + name + "]" : " " + name;
        }
        return usage + (verb.takes_command ? " -- COMMAND [ARGUMENT]..." : "") + "\n";
    }
};

void declare(CLI::App& app, const Argument& argument, Input& input) {
    app.add_option(std::string(argument.name), input.*argument.value, std::string(argument.help))
        ->required(!argument.optional)
        ->type_name("");
}

void declare(CLI::App& app, const Option& option, Input& input) {
    const std::string flags(option.flags);
    const std::string help(option.help);
    if (const auto* flag = std::get_if<bool Input::*>(&option.value))
        app.add_flag(flags, input.**flag, help);
    else
        app.add_option(flags, input.*std::get<std::string Input::*>(option.value), help)
            ->type_name(std::string(option.placeholder));
}

/// `input` must outlive the parsing, which fills its fields.
void declare(CLI::App& app, const Verb& verb, Input& input) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
    sub->group("Verbs");
    sub->footer((verb.details.empty() ? "" : std::string(verb.details) + "\n\n") + "Example:\n  " +
                std::string(verb.example));
    for (const Argument& argument : verb.arguments) declare(*sub, argument, input);
    for (const Option& option : verb.options) declare(*sub, option, input);
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
    if (arguments.empty() || !arguments.front().starts_with('-') || arguments.front() == "--version") return;
    const auto command = std::find(arguments.begin(), arguments.end(), "--");
    const auto verb = std::find_if(arguments.begin(), command, find_verb);
    if (verb != command) std::rotate(arguments.begin(), verb, verb + 1);
}

}  // namespace

Result<std::variant<Call, Print>> read_command_line(std::vector<std::string> arguments) {
    put_verb_first(arguments);
    const bool bare = arguments.empty() || arguments.front().starts_with('-');
    const Verb* verb = bare ? &verbs().front() : find_verb(arguments.front());
    if (verb == nullptr)
        return client::fail(Kind::usage, "cgpuctl " + model::quote(arguments.front()) +
                                             ": there is no such verb. Try: cgpuctl --help.");
    Call call{verb, {}};
    if (verb->takes_command && !wants_help(arguments)) {
        auto command = take_command(*verb, arguments);
        if (!command) return tl::unexpected(command.error());
        call.input.command = std::move(*command);
    }

    CLI::App app(kAbout, "cgpuctl");
    app.set_version_flag("--version", std::string("cgpuctl ") + CGPU_VERSION, "print the version");
    app.set_help_flag("-h,--help", "print this help");
    app.footer(kFooter);
    app.formatter(std::make_shared<HelpFormatter>());  // the verbs below inherit it
    for (const Option& option : verbs().front().options) declare(app, option, call.input);
    for (const Verb& each : verbs()) declare(app, each, call.input);
    try {
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        app.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        return Print{app.help()};
    } catch (const CLI::CallForVersion& version) {
        return Print{std::string(version.what()) + "\n"};
    } catch (const CLI::Error& error) {
        const std::string name = bare ? "" : " " + std::string(verb->name);
        return client::fail(Kind::usage,
                            "cgpuctl" + name + ": " + error.what() + ". Try: cgpuctl" + name + " --help.");
    }
    return call;
}

}  // namespace cgpu::cgpuctl
