#include "client/cgpuctl/base/command_line.hpp"

#include <set>

#include <gtest/gtest.h>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/top/options.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "client/cgpuctl/verbs/run.hpp"
#include "tests/unit/client/support/command_lines.hpp"

namespace cgpu::cgpuctl {
namespace {

TEST(VerbTable, HasEveryVerbOnce) {
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) names.emplace_back(verb.name);
    EXPECT_EQ(names, (Words{"status",
                            "list",
                            "queue",
                            "ps",
                            "logs",
                            "wait",
                            "show",
                            "limits",
                            "events",
                            "report",
                            "why",
                            "trace",
                            "describe",
                            "inspect",
                            "top",
                            "set-policy",
                            "set-max-inst",
                            "set-prio-ratio",
                            "set-default-memory",
                            "set-weight",
                            "set-priority",
                            "set-memory",
                            "stop",
                            "extend",
                            "rename",
                            "drain",
                            "undrain",
                            "pause",
                            "resume",
                            "apply",
                            "forget",
                            "config",
                            "revert",
                            "run",
                            "reserve",
                            "doctor",
                            "bench",
                            "module",
                            "upgrade",
                            "set-mode",
                            "runtime",
                            "swarm",
                            "cdi",
                            "help",
                            "version"}));
}

TEST(VerbTable, EveryVerbIsComplete) {
    for (const Verb& verb : verbs()) {
        const bool answered = verb.name == "help" || verb.name == "version";
        EXPECT_EQ(verb.does.run == nullptr, answered || !verb.verbs.empty()) << verb.name;
        EXPECT_TRUE(verb.verbs.empty() || (verb.arguments.empty() && verb.options.empty())) << verb.name;
        EXPECT_TRUE(verb.usual.empty() || find_verb_in(verb, verb.usual) != nullptr) << verb.name;
        EXPECT_FALSE(verb.summary.empty()) << verb.name;
        EXPECT_TRUE(verb.example.starts_with("cgpuctl " + std::string(verb.name))) << verb.name;
        EXPECT_EQ(find_verb(verb.name), &verb);
        std::set<std::string_view> flags;
        for (const Option& option : verb.options)
            EXPECT_TRUE(flags.insert(option.flags).second) << option.flags;
    }
}

// A field of another verb's input would throw.
TEST(VerbTable, EveryFieldIsOneOfTheVerbsOwnInput) {
    for (const Verb* each : called_verbs()) {
        const Verb& verb = *each;
        const auto input = verb.does.make_input();
        for (const Argument& argument : verb.arguments)
            EXPECT_EQ(std::holds_alternative<std::vector<std::string>*>(argument.field(*input)),
                      argument.is_list())
                << verb.name << " " << argument.name;
        for (const Option& option : verb.options)
            EXPECT_EQ(std::holds_alternative<bool*>(option.field(*input)), option.placeholder.empty())
                << verb.name << " " << option.flags;
        if (verb.command != nullptr) {
            EXPECT_TRUE(std::holds_alternative<std::vector<std::string>*>(verb.command(*input)));
        }
    }
}

TEST(VerbTable, EveryVerbEitherReadsOrHasADryRun) {
    for (const Verb* each : called_verbs()) {
        const Verb& verb = *each;
        bool json = false;
        bool dry_run = false;
        for (const Option& option : verb.options) {
            json = json || option.flags == "--json";
            dry_run = dry_run || option.flags == "--dry-run";
        }
        // upgrade, set-mode, apply, drains and what sets a figure of an instance tell what they did in either
        // form.
        const std::set<std::string_view> both = {
            "upgrade", "set-mode", "set-weight", "set-priority", "set-memory", "pause", "resume",
            "apply",   "drain",    "undrain",    "extend",       "reserve",    "rename"};
        // The figures of top are those of cgpu-smi --json; what its keys change is asked for there.
        // What trace writes is JSON, and it changes nothing; wait and logs print sentences and commands.
        const std::set<std::string_view> quiet = {"top", "trace", "wait", "logs", "config check"};
        const bool neither = verb.does.run == nullptr || quiet.contains(verb.name);
        if (both.contains(verb.name))
            EXPECT_TRUE(json && dry_run) << verb.name;
        else if (neither)
            EXPECT_FALSE(json || dry_run) << verb.name;
        else
            EXPECT_NE(json, dry_run) << verb.name;
    }
}

TEST(VerbTable, EveryExampleCanBeRead) {
    for (const Verb* each : called_verbs()) {
        const Verb& verb = *each;
        Words words = words_of(verb.example);
        words.erase(words.begin());
        if (verb.does.run == nullptr)
            EXPECT_FALSE(text_of(words).empty()) << verb.example;
        else
            EXPECT_EQ(call_of(words).verb, &verb) << verb.example;
    }
}

TEST(Help, OfEachVerbShowsArgumentsOptionsAndAnExample) {
    for (const Verb* each : called_verbs()) {
        const Verb& verb = *each;
        const Words words = words_of(verb.name);
        const std::string help = text_of(with(words, "--help"));
        EXPECT_EQ(help.find("--host") != std::string::npos, !verb.local) << verb.name;
        if (verb.name != "help") {
            Words asked = words;
            asked.insert(asked.begin(), "help");
            EXPECT_EQ(text_of(asked), help);
        }
        EXPECT_NE(help.find(verb.example), std::string::npos) << help;
        EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
        for (const Argument& argument : verb.arguments)
            EXPECT_NE(help.find(argument.name), std::string::npos) << help;
        for (const Option& option : verb.options)
            EXPECT_NE(help.find(option.flags), std::string::npos) << help;
    }
}

TEST(Help, HasAnExactUsageLine) {
    EXPECT_NE(text_of({"set-weight", "-h"}).find("Usage: cgpuctl set-weight [OPTIONS] INSTANCE... N\n"),
              std::string::npos);
    EXPECT_EQ(text_of({"set-weight", "-h"}).find("... ..."), std::string::npos);
    EXPECT_NE(text_of({"run", "-h"}).find("Usage: cgpuctl run [OPTIONS] -- COMMAND [ARGUMENT]...\n"),
              std::string::npos);
}

TEST(Help, IsNotWiderThanAPage) {
    std::istringstream lines(text_of({"--help"}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
}

TEST(Help, NamesEveryVerbAndExitCode) {
    const std::string help = text_of({"--help"});
    for (const Verb& verb : verbs()) EXPECT_NE(help.find(verb.name), std::string::npos) << verb.name;
    for (const char* code :
         {"0 done", "1 a fault", "2 wrong usage", "3 no such", "4 refused", "77 not", "101 the"})
        EXPECT_NE(help.find(code), std::string::npos) << code;
}

// Found as `cgpuctl -q set-policy 0 weighted`, which did nothing and succeeded.
TEST(CommandLine, OptionsBeforeTheVerbAreTheVerbs) {
    const Call call = call_of({"-q", "set-policy", "0", "weighted"});
    EXPECT_EQ(call.verb->name, "set-policy");
    EXPECT_TRUE(call.input->quiet);
    EXPECT_EQ(input_of<GpuSettingInput>(call).gpu, "0");
    EXPECT_EQ(input_of<GpuSettingInput>(call).value, "weighted");
    EXPECT_TRUE(call_of({"--json", "list"}).input->json);
    EXPECT_EQ(call_of({"--json"}).verb->name, "status");
    const Call run = call_of({"--mem", "1GiB", "run", "--", "list", "-q"});
    EXPECT_EQ(run.verb->name, "run");
    EXPECT_EQ(input_of<RunInput>(run).memory, "1GiB");
    EXPECT_EQ(input_of<RunInput>(run).command, (Words{"list", "-q"}));
    EXPECT_EQ(text_of({"--help", "set-policy"}), text_of({"set-policy", "--help"}));
    EXPECT_NE(text_of({"--version", "list"}).find("cgpuctl "), std::string::npos);
    EXPECT_NE(usage_error({"--hot", "set-policy", "0", "weighted"}).find("--hot"), std::string::npos);
    EXPECT_NE(usage_error({"-q", "set-polcy", "0"}).find("set-polcy"), std::string::npos);
}

// -d is --details of inspect, and --delay of top.
TEST(CommandLine, AnOptionThatHasAValueInOneVerbOnly) {
    const Call details = call_of({"-d", "inspect"});
    EXPECT_EQ(details.verb->name, "inspect");
    EXPECT_TRUE(input_of<InspectInput>(details).details);
    const Call delay = call_of({"-d", "2", "top"});
    EXPECT_EQ(delay.verb->name, "top");
    EXPECT_EQ(input_of<TopInput>(delay).delay, "2");
    EXPECT_EQ(input_of<TopInput>(call_of({"top", "-d", "0.5", "-b"})).delay, "0.5");
}

TEST(CommandLine, BareIsStatus) {
    EXPECT_EQ(call_of({}).verb->name, "status");
    const Call call = call_of({"--json"});
    EXPECT_EQ(call.verb->name, "status");
    EXPECT_TRUE(call.input->json);
}

TEST(CommandLine, Version) {
    EXPECT_TRUE(text_of({"--version"}).starts_with("cgpuctl "));
    EXPECT_EQ(text_of({"-V"}), text_of({"--version"}));
    EXPECT_EQ(text_of({"version"}), text_of({"--version"}));
    EXPECT_NE(usage_error({"version", "list"}).find("cgpuctl version"), std::string::npos);
    EXPECT_NE(text_of({"version", "--help"}).find("Usage: cgpuctl version"), std::string::npos);
}

TEST(CommandLine, Help) {
    EXPECT_EQ(text_of({"help"}), text_of({"--help"}));
    EXPECT_NE(text_of({"help", "--help"}).find("Usage: cgpuctl help [OPTIONS] [VERB]"), std::string::npos);
    EXPECT_NE(usage_error({"help", "stauts"}).find("Try: cgpuctl status."), std::string::npos);
    usage_error({"help", "list", "show"});
}

TEST(CommandLine, ATypoHasTheVerbThatWasMeant) {
    EXPECT_NE(usage_error({"stauts"}).find("there is no such verb. Try: cgpuctl status."), std::string::npos);
    EXPECT_NE(usage_error({"set-wieght", "web", "4"}).find("Try: cgpuctl set-weight."), std::string::npos);
    EXPECT_NE(usage_error({"frobnicate"}).find("Try: cgpuctl help."), std::string::npos);
}

TEST(CommandLine, ATypoOfAnOptionHasTheOneThatWasMeant) {
    const auto meant = [](const std::string& word, const std::string& option) {
        EXPECT_NE(
            usage_error({"run", word, "4GiB", "--", "true"}).find(" no such option. Try: " + option + "."),
            std::string::npos)
            << word;
    };
    for (const char* word : {"--memory", "-m", "--memory=4GiB", "--me", "--mme", "--MEM"})
        meant(word, "--mem");
    for (const char* word : {"--gpu", "--gpsu", "-g"}) meant(word, "--gpus");
    meant("--priority", "--prio");
    meant("--wieght", "--weight");
    meant("--zyzzyx", "cgpuctl run --help");
    meant("-x", "cgpuctl run --help");
    EXPECT_NE(usage_error({"list", "--jsno"})
                  .find("cgpuctl list \"--jsno\": there is no such option. Try: "
                        "--json."),
              std::string::npos);
    EXPECT_NE(usage_error({"--jsno"}).find("cgpuctl \"--jsno\": there is no such option. Try: --json."),
              std::string::npos);
    EXPECT_NE(usage_error({"set-memory", "web", "--froce"}).find("Try: --force."), std::string::npos);
    // What another verb has is no typo: --json isn't --host.
    EXPECT_NE(usage_error({"set-policy", "0", "fixed", "--json"})
                  .find("\"--json\": this verb has no such option. Try: cgpuctl set-policy --help."),
              std::string::npos);
    EXPECT_NE(usage_error({"run", "--gpu", "0", "--", "true"}).find("no such option. Try: --gpus."),
              std::string::npos);
}

TEST(CommandLine, AnEmptyValueIsNotTheSameAsNone) {
    for (const char* blank : {"", " ", "\t\n"}) {
        for (const char* option : {"--mem", "--weight", "--compute", "--prio", "--gpus", "--user"}) {
            const auto text = usage_error({"run", option, blank, "--", "true"});
            EXPECT_NE(text.find(std::string(option) + " is empty"), std::string::npos) << text;
            EXPECT_NE(text.find("CGPU_DISABLE=1"), std::string::npos) << text;
        }
        EXPECT_NE(usage_error({"apply", blank}).find("FILE is empty"), std::string::npos);
        EXPECT_NE(usage_error({"set-memory", "web", blank, "4GiB"}).find("INSTANCE... is empty"),
                  std::string::npos);
        EXPECT_NE(usage_error({"set-memory", "web", blank}).find("SIZE is empty"), std::string::npos);
        EXPECT_NE(usage_error({"revert", "web", "--gpu", blank}).find("--gpu is empty"), std::string::npos);
        EXPECT_NE(usage_error({"list", "-H", blank}).find("--host is empty"), std::string::npos);
        EXPECT_NE(usage_error({"-H", blank}).find("--host is empty"), std::string::npos);
    }
    EXPECT_NE(usage_error({"run", "--mem=", "--", "true"}).find("--mem"), std::string::npos);
    EXPECT_EQ(input_of<RunInput>(call_of({"run", "--mem", "1GiB", "--name", "", "--", "true"})).name, "");
}

TEST(CommandLine, SaysWhichOptionsWereGiven) {
    EXPECT_EQ(call_of({"set-weight", "web", "4", "-q", "--gpu=0"}).given,
              (std::vector<std::string_view>{"--gpu", "--quiet"}));
    EXPECT_EQ(call_of({"-H", "there"}).given, std::vector<std::string_view>{"--host"});
    EXPECT_TRUE(call_of({"list"}).given.empty());
}

TEST(CommandLine, SeveralInstances) {
    const Call call = call_of({"set-weight", "web", "db", "-q", "cache", "4"});
    EXPECT_EQ(input_of<InstanceSettingInput>(call).instances, (Words{"web", "db", "cache"}));
    EXPECT_EQ(input_of<InstanceSettingInput>(call).value, "4");
    EXPECT_TRUE(call.input->quiet);
    EXPECT_NE(usage_error({"set-weight", "web"}).find("N is required"), std::string::npos);
    usage_error({"set-memory"});
}

TEST(CommandLine, AnotherMachine) {
    EXPECT_EQ(call_of({"-H", "root@gpu1", "list"}).input->host, "root@gpu1");
    EXPECT_EQ(call_of({"list", "--host", "gpu1"}).input->host, "gpu1");
    EXPECT_EQ(call_of({"-H", "gpu1"}).verb->name, "status");
    const Call call = call_of({"-H", "list", "show", "0"});  // a machine with the name of a verb
    EXPECT_EQ(call.verb->name, "show");
    EXPECT_EQ(call.input->host, "list");
    EXPECT_NE(usage_error({"-H", "gpu1", "doctor"}).find("this machine only. Try: ssh gpu1 cgpuctl doctor."),
              std::string::npos);
    EXPECT_NE(usage_error({"-H", "gpu1", "run", "--", "true"}).find("Try: ssh gpu1 cgpuctl run."),
              std::string::npos);
    for (const char* host : {"-oProxyCommand=x", "a b", "user@", "@host", "a;b", "user@-x", "host/container"})
        EXPECT_NE(usage_error({"--host=" + std::string(host), "list"}).find("Try: --host user@machine"),
                  std::string::npos)
            << host;
}

TEST(CommandLine, ArgumentsInTheirOrder) {
    const Call call = call_of({"set-policy", "0", "weighted", "--dry-run"});
    EXPECT_EQ(input_of<GpuSettingInput>(call).gpu, "0");
    EXPECT_EQ(input_of<GpuSettingInput>(call).value, "weighted");
    EXPECT_TRUE(call.input->dry_run);
}

TEST(CommandLine, OptionsMayStandBetweenArguments) {
    const Call call = call_of({"set-weight", "web", "--gpu", "1", "4", "-q"});
    EXPECT_EQ(input_of<InstanceSettingInput>(call).instances, Words{"web"});
    EXPECT_EQ(input_of<InstanceSettingInput>(call).value, "4");
    EXPECT_EQ(input_of<InstanceSettingInput>(call).gpu, "1");
    EXPECT_TRUE(call.input->quiet);
}

TEST(CommandLine, WhatFollowsTheMarkIsTheCommandAsItStands) {
    const Call call = call_of({"run", "--mem", "4GiB", "--", "python3", "--help", "--", "-q", ""});
    EXPECT_EQ(input_of<RunInput>(call).memory, "4GiB");
    EXPECT_EQ(input_of<RunInput>(call).command, (Words{"python3", "--help", "--", "-q", ""}));
    EXPECT_FALSE(call.input->quiet);
}

TEST(CommandLine, RunWithoutACommand) {
    EXPECT_NE(usage_error({"run", "--mem", "4GiB"}).find("the command is missing"), std::string::npos);
    EXPECT_NE(usage_error({"run", "--mem", "4GiB", "--"}).find("the command is missing"), std::string::npos);
    usage_error({"run", "nvidia-smi", "--", "nvidia-smi"});
}

TEST(CommandLine, WrongUsage) {
    EXPECT_NE(usage_error({"frobnicate"}).find("cgpuctl \"frobnicate\": there is no such verb"),
              std::string::npos);
    usage_error({"--frobnicate"});
    EXPECT_NE(usage_error({"set-policy", "0"}).find("cgpuctl set-policy: "), std::string::npos);
    usage_error({"set-policy", "0", "weighted", "more"});
    usage_error({"set-policy", "0", "weighted", "--json"});
    usage_error({"list", "--dry-run"});
    usage_error({"set-weight", "web", "4", "--gpu"});
}

}  // namespace
}  // namespace cgpu::cgpuctl
