#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/cgpuctl/verbs/config.hpp"
#include "tests/unit/client/support/command_lines.hpp"

/// Verbs within others: module list, config show.
namespace cgpu::cgpuctl {
namespace {

TEST(VerbsWithin, AreCalledByBothWordsWhereverOptionsStand) {
    for (const Words& words : {Words{"module", "add", "--folder", "here", "a.tar"},
                               Words{"module", "--folder", "here", "add", "a.tar"},
                               Words{"--folder=here", "module", "add", "a.tar"}}) {
        const Call call = call_of(words);
        EXPECT_EQ(call.verb->name, "module add");
        EXPECT_EQ(input_of<ModuleInput>(call).folder, "here");
        EXPECT_EQ(input_of<ModuleInput>(call).what, "a.tar");
    }
    EXPECT_EQ(call_of({"-q", "module", "list"}).verb->name, "module list");
    EXPECT_EQ(call_of({"swarm", "configure"}).verb->name, "swarm configure");
}

TEST(VerbsWithin, OneMayBeMeantIfNoneIsNamed) {
    EXPECT_EQ(call_of({"config"}).verb->name, "config show");
    for (const Words& words : {Words{"config", "--check"}, Words{"--check", "config"}})
        EXPECT_TRUE(input_of<ConfigInput>(call_of(words)).check);
    EXPECT_EQ(input_of<ConfigFilesInput>(call_of({"config", "check", "a", "b"})).files, (Words{"a", "b"}));
    EXPECT_NE(usage_error({"config", "check"}).find("FILE... is required. Try: cgpuctl config check --help."),
              std::string::npos);
    EXPECT_EQ(usage_error({"module"}),
              "cgpuctl module: what it is to do is missing. Try: cgpuctl module --help.");
}

TEST(VerbsWithin, ATypoHasTheOneThatWasMeant) {
    EXPECT_EQ(usage_error({"module", "lst"}),
              "cgpuctl module \"lst\": there is no such action. Try: cgpuctl module list.");
    EXPECT_EQ(usage_error({"module", "upgrade"}),
              "cgpuctl module \"upgrade\": there is no such action. Try: cgpuctl module --help.");
    EXPECT_EQ(usage_error({"config", "chekc"}),
              "cgpuctl config \"chekc\": there is no such action. Try: cgpuctl config check.");
}

TEST(VerbsWithin, EachHasItsOwnArgumentsAndOptions) {
    EXPECT_NE(usage_error({"module", "add"}).find("cgpuctl module add: FOLDER|TAR is required"),
              std::string::npos);
    usage_error({"module", "list", "1.2.0"});
    EXPECT_NE(usage_error({"module", "add", "x", "--json"})
                  .find("cgpuctl module add \"--json\": this verb has no such option"),
              std::string::npos);
    usage_error({"module", "verify", "--dry-run"});
    EXPECT_NE(usage_error({"module", "list", "-H", "there"}).find("ssh there cgpuctl module list."),
              std::string::npos);
}

TEST(VerbsWithin, HelpIsOfAllOrOfOne) {
    const std::string help = text_of({"module", "--help"});
    EXPECT_NE(help.find("Usage: cgpuctl module VERB [OPTIONS]\n"), std::string::npos) << help;
    EXPECT_NE(help.find("  verify "), std::string::npos) << help;
    EXPECT_EQ(text_of({"help", "module"}), help);
    EXPECT_NE(text_of({"config", "--help"}).find("Usage: cgpuctl config [VERB] [OPTIONS]\n"),
              std::string::npos);
    const std::string of_one = text_of({"module", "add", "--help"});
    EXPECT_NE(of_one.find("Usage: cgpuctl module add [OPTIONS] FOLDER|TAR\n"), std::string::npos) << of_one;
    EXPECT_EQ(text_of({"help", "module", "add"}), of_one);
    EXPECT_EQ(text_of({"--help", "module", "add"}), of_one);
    EXPECT_NE(usage_error({"help", "module", "ad"}).find("Try: cgpuctl module add."), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl
