#include "client/cgpuctl/completion/complete.hpp"

#include <gtest/gtest.h>

#include <set>

#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/completion/values.hpp"
#include "tests/unit/client/support/command_lines.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

class Complete : public testing::Test {
  protected:
    Words words_for(const Words& typed) {
        Words words;
        for (const Candidate& each : complete(typed, node_)) words.push_back(each.word);
        return words;
    }
    FakeNode node_;
};

TEST_F(Complete, EveryVerbOfTheTable) {
    Words all;
    for (const Verb& verb : verbs()) all.emplace_back(verb.name);
    EXPECT_EQ(words_for({""}), all);
    EXPECT_EQ(words_for({}), all);
    EXPECT_EQ(words_for({"help", ""}), all);
    EXPECT_EQ(words_for({"set-p"}), (Words{"set-policy", "set-prio-ratio", "set-priority"}));
    EXPECT_EQ(words_for({"--json", "-H", "list", "sh"}), Words{"show"});
}

TEST_F(Complete, EveryOptionOfEachVerb) {
    for (const Verb* called : called_verbs()) {
        const Verb& verb = *called;
        Words typed = words_of(verb.name);
        typed.emplace_back("-");
        const Words words = words_for(typed);
        const std::set<std::string> found(words.begin(), words.end());
        std::size_t wanted = 2;  // -h and --help
        for (const Option& option : verb.options)
            for (const std::string_view each : spellings(option)) {
                EXPECT_TRUE(found.contains(std::string(each))) << verb.name << " " << each;
                ++wanted;
            }
        EXPECT_EQ(found.contains("--host"), !verb.local) << verb.name;
        EXPECT_EQ(words.size(), wanted + (verb.local ? 0 : 2)) << verb.name;
    }
    EXPECT_EQ(words_for({"--v"}), Words{"--version"});
    EXPECT_EQ(words_for({"module", "-"}), (Words{"-h", "--help"}));
    // -d has a value in top, and none in inspect.
    EXPECT_EQ(words_for({"inspect", "-d", "--j"}), Words{"--json"});
    EXPECT_EQ(words_for({"top", "-d", ""}), Words{});
}

/// A value with a fixed set of words has candidates; a new one must be added to values.cpp, or here.
TEST_F(Complete, EveryArgumentThatCanBeKnown) {
    const std::set<std::string_view> free = {"N", "SIZE", "UID", "P%", "NAME", "USER", "N:N...", "S", "HOST"};
    node_.snapshot.kept = {{0, "web", 0, std::nullopt, std::nullopt, true}};
    node_.snapshot.modules_installed = {"1.2.0", "1.2.3"};
    node_.values = {{"profiles.notebook.mem", "4GiB", "", {}, {}, {}},
                    {"profiles.notebook.max.mem", "8GiB", "", {}, {}, {}}};
    EXPECT_EQ(values_of("PROFILE", "run", node_), (std::vector<Candidate>{{"notebook", "4GiB"}}));
    const auto expect_values = [&](std::string_view name, const Verb& verb) {
        if (free.contains(name) && !(name == "NAME" && verb.name == "forget")) return;
        EXPECT_FALSE(values_of(name, verb.name, node_).empty()) << verb.name << " " << name;
    };
    for (const Verb* verb : called_verbs()) {
        for (const Argument& argument : verb->arguments) expect_values(argument.name, *verb);
        for (const Option& option : verb->options)
            if (!option.placeholder.empty()) expect_values(option.placeholder, *verb);
    }
}

TEST_F(Complete, GpusInstancesPoliciesAndVersions) {
    node_.snapshot.modules_installed = {"1.2.0", "1.2.3"};
    EXPECT_EQ(words_for({"set-policy", ""}), (Words{"0", "1"}));
    EXPECT_EQ(words_for({"set-policy", "0", "w"}), Words{"weighted"});
    EXPECT_EQ(words_for({"set-policy", "-q", "0", "w"}), Words{"weighted"});
    EXPECT_EQ(words_for({"set-policy", "0", "weighted", ""}), Words{});
    EXPECT_EQ(words_for({"show", ""}), (Words{"0", "1", "web"}));
    EXPECT_EQ(words_for({"set-weight", "web", "--gpu", ""}), (Words{"0", "1"}));
    EXPECT_EQ(words_for({"set-priority", "web", ""}), (Words{"high", "normal"}));
    EXPECT_EQ(words_for({"upgrade", "--hot", "1.2"}), (Words{"1.2.0", "1.2.3"}));
    EXPECT_EQ(words_for({"module", "show", ""}), (Words{"1.2.0", "1.2.3"}));
    EXPECT_EQ(words_for({"module", "add", ""}), Words{":files"});
    EXPECT_EQ(words_for({"set-mode", "m"}), (Words{"memory", "memory+compute"}));
    EXPECT_EQ(words_for({"runtime", "configure", "--as", ""}), Words{"nvidia"});
    EXPECT_EQ(words_for({"swarm", ""}), Words{"configure"});
    EXPECT_EQ(words_for({"module", "--folder", "x", ""}), (Words{"list", "show", "add", "remove", "verify"}));
    EXPECT_EQ(words_for({"module", "-q", "remove", ""}), (Words{"1.2.0", "1.2.3"}));
    EXPECT_EQ(words_for({"module", "remove", "--d"}), Words{"--dry-run"});
    EXPECT_EQ(words_for({"module", "none", ""}), Words{});
    EXPECT_EQ(words_for({"config", "--c"}), Words{"--check"});
    EXPECT_EQ(words_for({"config", "check", ""}), Words{":files"});
    EXPECT_EQ(words_for({"drain", ""}), (Words{"0", "1", "node"}));
    EXPECT_EQ(words_for({"undrain", "0", ""}), (Words{"1", "node"}));
    EXPECT_EQ(words_for({"pause", ""}), Words{"web"});
}

TEST_F(Complete, StatesUsersAndFurtherInstances) {
    node_.snapshot.instances[0].declared_owner = "alice";
    EXPECT_EQ(words_for({"list", "--state", "r"}), (Words{"reserved", "running"}));
    EXPECT_EQ(words_for({"list", "--user", ""}), Words{"alice"});
    EXPECT_EQ(words_for({"ps", ""}), Words{"web"});
    EXPECT_EQ(words_for({"ps", "web", ""}), Words{}) << "it has been named";
    EXPECT_EQ(words_for({"stop", "web", "--grace", ""}), Words{});
}

TEST_F(Complete, WhatFollowsTheMarkIsAnotherCommand) {
    EXPECT_EQ(words_for({"run", "--mem", "4GiB", "--", "py"}), Words{":command"});
    EXPECT_EQ(words_for({"list", "--", ""}), Words{});
}

/// A name goes on the command line as it is, and a shell would carry out `$(…)`.
TEST_F(Complete, ANameThatAShellWouldReadIsCompletedById) {
    node_.snapshot.instances[0].name = "$(touch /tmp/x)";
    EXPECT_EQ(words_for({"set-weight", ""}), Words{std::string(kWebId).substr(0, 12)});
    node_.snapshot.instances[0].name = "-q";
    EXPECT_EQ(words_for({"set-weight", ""}), Words{std::string(kWebId).substr(0, 12)});
    node_.snapshot.kept = {{0, "a b", 0, std::nullopt, 1U, std::nullopt}};
    EXPECT_EQ(words_for({"forget", ""}), Words{});
}

TEST_F(Complete, ANameThatTwoInstancesHaveIsCompletedById) {
    auto second = node_.snapshot.instances[0];
    second.id = "ffff456789abcdef0123456789abcdef";
    node_.snapshot.instances.push_back(second);
    EXPECT_EQ(words_for({"show", "f"}), Words{"ffff456789ab"});
}

TEST_F(Complete, ANameThatMeansAnotherInstanceIsCompletedById) {
    auto second = node_.snapshot.instances[0];
    second.id = "ffff456789abcdef0123456789abcdef";
    second.name = std::string(kWebId).substr(0, 12);
    node_.snapshot.instances.push_back(second);
    EXPECT_EQ(words_for({"show", "f"}), Words{"ffff456789ab"});
}

TEST_F(Complete, WithoutADaemonThereIsNothing) {
    node_.answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: it is not there. Try: x.");
    EXPECT_EQ(words_for({"set-policy", ""}), Words{});
    EXPECT_EQ(words_for({"set-po"}), Words{"set-policy"});
    node_.answer = {};
    node_.service_state.running = false;
    node_.snapshot.kept = {{0, "web", 0, std::nullopt, 1U, std::nullopt}};
    EXPECT_EQ(words_for({"set-policy", ""}), Words{});
    EXPECT_EQ(words_for({"forget", ""}), Words{});
}

TEST(CompleteLines, AWordATabAndWhatItIs) {
    EXPECT_EQ(to_lines({{"0", "GPU, T4"}, {":files", ""}}), "0\tGPU, T4\n:files\t\n");
}

}  // namespace
}  // namespace cgpu::cgpuctl
