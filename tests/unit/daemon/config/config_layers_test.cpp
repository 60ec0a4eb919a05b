#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/load.hpp"
#include "daemon/config/yaml_layer.hpp"
#include "tests/unit/core/support/said_once.hpp"
#include "tests/unit/daemon/support/as_nobody.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// Which layer wins, and the messages about an invalid one.
namespace cgpu::config {
namespace {

using namespace cgpu::test;
using model::Policy;

class ConfigLayers : public testing::Test {
  protected:
    Sources sources() const {
        return {folder / "usr.yaml", folder / "etc.yaml", folder / "etc.d", files, overrides};
    }
    Config loaded() const {
        const auto read = load(sources());
        EXPECT_TRUE(read.has_value()) << read.error().front().text;
        return read ? read->config : defaults;
    }
    Problems problems() const {
        const auto read = load(sources());
        EXPECT_FALSE(read.has_value());
        return read ? Problems{} : read.error();
    }

    const Config defaults{};
    TempFolder folder;
    std::vector<std::filesystem::path> files;
    std::vector<std::string> overrides;
};

TEST_F(ConfigLayers, WithoutAnyFileTheDefaultsAreInForce) { EXPECT_EQ(loaded(), defaults); }

TEST_F(ConfigLayers, TheShippedFileSaysWhatTheDefaultsAre) {
    write_text(folder / "usr.yaml", read_text(CGPU_SHIPPED_CONFIG));
    EXPECT_FALSE(read_text(CGPU_SHIPPED_CONFIG).empty());
    EXPECT_EQ(loaded(), defaults);
}

TEST_F(ConfigLayers, LaterOnesWinValueByValue) {
    write_text(folder / "usr.yaml",
               "max_inst: 1\npolicy: soft\nslice_ms: 11\ndefault_weight: 2\nlog_level: debug\n");
    write_text(folder / "etc.yaml", "max_inst: 2\npolicy: fixed\nslice_ms: 12\ndefault_weight: 3\n");
    write_text(folder / "etc.d/20-b.yaml", "max_inst: 4\npolicy: 2\n");
    write_text(folder / "etc.d/10-a.yaml", "max_inst: 3\nslice_ms: 13\n");
    overrides = {"max_inst=5"};
    const Config config = loaded();
    EXPECT_EQ(config.gpu_defaults.max_inst, 5U);
    EXPECT_EQ(config.gpu_defaults.policy, Policy::weighted);
    EXPECT_EQ(config.slice_ms, 13U);
    EXPECT_EQ(config.admission.default_weight, 3U);
    EXPECT_EQ(config.log_level, "debug");
}

TEST_F(ConfigLayers, GroupsAreAddedTo) {
    write_text(folder / "usr.yaml",
               "weights:\n  a: 1\n  b: 2\ngpus:\n  0:\n    policy: fixed\n    max_inst: 7\n");
    write_text(folder / "etc.yaml", "weights:\n  b: 3\ngpus:\n  0:\n    max_inst: 8\n");
    overrides = {"weights.my.trainer=4", "gpus.1.mode=memory"};
    const Config config = loaded();
    EXPECT_EQ(config.admission.weights,
              (decltype(config.admission.weights){{"a", 1}, {"b", 3}, {"my.trainer", 4}}));
    EXPECT_EQ(config.gpus_by_index.at(0).policy, Policy::fixed);
    EXPECT_EQ(config.gpus_by_index.at(0).max_inst, 8U);
    EXPECT_EQ(config.gpus_by_index.at(1).mode, model::Mode::memory);
}

TEST_F(ConfigLayers, OtherFilesInTheDropInFolderAreLeftOut) {
    for (const char* name : {"etc.d/a.yml", "etc.d/b.yaml.dpkg-old", "etc.d/.c.yaml", "etc.d/README"})
        write_text(folder / name, "max_inst: nonsense\n");
    EXPECT_EQ(loaded(), defaults);
}

/// Found as a setting in x.yml that nobody could find the effect of.
TEST_F(ConfigLayers, AFileWithAnotherSuffixIsToldOf) {
    for (const char* name :
         {"etc.d/a.yml", "etc.d/b.yaml.txt", "etc.d/c.YAML", "etc.d/d", "etc.d/e.yaml~",
          "etc.d/f.yaml.dpkg-dist", "etc.d/.g.yaml.swp", "etc.d/README.md", "etc.d/h.yaml"})
        write_text(folder / name, "max_inst: 4\n");
    const auto read = load(sources());
    ASSERT_TRUE(read);
    std::vector<std::string> told;
    for (const Problem& warning : read->warnings) {
        told.push_back(std::filesystem::path(warning.origin.file).filename());
        EXPECT_EQ(warning.text, warning.origin.file +
                                    ": the file: it is not read, because its name does not end with .yaml. "
                                    "Try: rename it, or put it elsewhere.");
    }
    EXPECT_EQ(told, (std::vector<std::string>{"a.yml", "b.yaml.txt", "c.YAML", "d"}));
}

TEST_F(ConfigLayers, EachFolderIsForOnePurpose) {
    const std::string one = (folder / "one").string();
    std::filesystem::create_directories(folder / "one");
    std::filesystem::create_symlink("one", folder / "link");
    const std::string link = (folder / "link").string();
    struct Case {
        std::vector<std::string> overrides;
        std::string problem;
    };
    for (const Case& bad :
         {Case{{"state_dir=/"}, "state_dir = \"/\": it is the root of all folders"},
          Case{{"runtime_dir=//."}, "runtime_dir = \"//.\": it is the root of all folders"},
          Case{{"module_dir=/usr/../"}, "it is the root of all folders"},
          Case{{"state_dir=" + one, "runtime_dir=" + one + "/"},
               "runtime_dir = \"" + one + "/\": it is the folder of state_dir, too"},
          Case{{"runtime_dir=" + one, "state_dir=" + link},
               "state_dir = \"" + link + "\": it is the folder of runtime_dir, too"},
          Case{{"state_dir=" + one, "runtime_dir=" + link + "/below"},
               "it lies in state_dir (\"" + one + "\")"},
          Case{{"state_dir=/run/cgpu/state"}, "it lies in runtime_dir (\"/run/cgpu\")"},
          Case{{"state_dir=/run"}, "runtime_dir (\"/run/cgpu\") lies in it"},
          Case{{"state_dir=/usr/lib/cgpu/module"}, "it is the folder of module_dir, too"}}) {
        overrides = bad.overrides;
        const Problems all = problems();
        ASSERT_EQ(all.size(), 1U) << bad.problem;
        EXPECT_NE(all[0].text.find(bad.problem + ". Try: name a folder that cgpud has for this alone."),
                  std::string::npos)
            << all[0].text;
    }
    overrides = {"state_dir=" + one + "/a", "runtime_dir=" + one + "/ab", "module_dir=/usr/lib/cgpu"};
    EXPECT_EQ(loaded().state_dir, one + "/a");
}

/// A path that ends where C's does is another one.
TEST_F(ConfigLayers, APathHasNoZeroByte) {
    for (const char* key : {"state_dir", "runtime_dir", "module_dir"}) {
        write_text(folder / "etc.yaml", std::string(key) + ": \"/srv/a\\0b\"\n");
        EXPECT_NE(problems().at(0).text.find("it is not a path"), std::string::npos);
    }
}

TEST_F(ConfigLayers, ThereAreNoMoreValuesThanCanBeTold) {
    std::string text = "weights:\n";
    for (std::size_t i = 0; i < kMostEntries; ++i) text += "  c" + std::to_string(i) + ": 1\n";
    write_text(folder / "etc.yaml", text);
    EXPECT_EQ(loaded().admission.weights.size(), kMostEntries);
    write_text(folder / "etc.d/x.yaml", "max_inst: 4\n");
    EXPECT_EQ(problems().at(0).text,
              (folder / "etc.d/x.yaml").string() +
                  ": the file: with it, the files have more than 20000 values. Try: remove those that no "
                  "container has.");
    std::filesystem::remove(folder / "etc.d/x.yaml");
    // By aliases, a text of 40 kB has sixteen million of them.
    text = "gpus:\n  0: &all\n";
    for (int i = 0; i < 2000; ++i) text += "    k" + std::to_string(i) + ": 1\n";
    for (int i = 1; i < 8000; ++i) text += "  " + std::to_string(i) + ": *all\n";
    write_text(folder / "etc.yaml", text);
    EXPECT_NE(problems().at(0).text.find("more than 20000 values"), std::string::npos);
}

TEST_F(ConfigLayers, OfManyFaultsAHundredAreTold) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "key" + std::to_string(i) + ": 1\n";
    write_text(folder / "etc.yaml", text);
    const Problems all = problems();
    ASSERT_EQ(all.size(), 101U);
    EXPECT_NE(all.back().text.find("they have 4900 more faults"), std::string::npos) << all.back().text;
}

TEST_F(ConfigLayers, EverythingThatIsWrongIsSaidAtOnceWithFileAndLine) {
    write_text(folder / "usr.yaml", "# fine\nmax_inst: 26\n\npolcy: 1\n");
    write_text(folder / "etc.yaml", "max_inst: 4\nprio_ratio: [1, 2]\n");
    write_text(folder / "etc.d/x.yaml", "policy: {a\n");
    overrides = {"slice_ms=0", "nothing"};
    const Problems all = problems();
    ASSERT_EQ(all.size(), 6U);
    std::string text;
    for (const Problem& problem : all) {
        text += problem.text + "\n";
        EXPECT_NE(problem.text.find(". Try: "), std::string::npos) << problem.text;
        expect_said_once(problem.text);
        EXPECT_TRUE(problem.text.starts_with(problem.origin.text() + ": ")) << problem.text;
    }
    EXPECT_EQ(all[0].origin.file, (folder / "etc.yaml").string()) << "problems of the syntax come first";
    EXPECT_EQ(all[0].origin.line, 2U);
    for (const char* part :
         {"usr.yaml:2: max_inst = \"26\": it is out of range. Try: use a whole number from 1 to 25.",
          "usr.yaml:4: polcy = \"1\": there is no such key. Try: use one of policy, max_inst, ",
          "etc.yaml:2: \"prio_ratio\": a list is not expected here",
          "x.yaml:2: the file: it is not YAML here", "command line: slice_ms = \"0\": it is out of range",
          "command line: \"nothing\": it is not of the form"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
}

TEST_F(ConfigLayers, AFileThatCannotBeReadIsAProblem) {
    std::filesystem::create_directories(folder / "etc.yaml");
    write_text(folder / "etc.d", "a file where a folder should be");
    const Problems all = problems();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_NE(all[0].text.find("Not a directory"), std::string::npos) << all[0].text;
    EXPECT_NE(all[1].text.find("it is a folder, not a file"), std::string::npos) << all[1].text;
}

/// Found as a cgpud that waited for the other end of a pipe, and never started.
TEST_F(ConfigLayers, WhatIsNoFileIsAProblem) {
    std::filesystem::create_directories(folder / "etc.d");
    for (const std::string name : {"etc.d/x.yaml", "etc.yaml", "usr.yaml"})
        for_each_not_file(folder / name, [&](const NotFile& other) {
            const Problems all = problems();
            ASSERT_EQ(all.size(), 1U) << name;
            EXPECT_EQ(all[0].text, (folder / name).string() + ": the file: " + other.why +
                                       ". Try: put a file there, or remove it.");
        });
    write_text(folder / "etc.yaml", "");
    ASSERT_EQ(truncate((folder / "etc.yaml").c_str(), off_t{1} << 42), 0);
    const Problems all = problems();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_NE(all[0].text.find("it is longer than"), std::string::npos) << all[0].text;
}

TEST_F(ConfigLayers, FilesThatAreJudgedMustExist) {
    write_text(folder / "etc.yaml", "max_inst: 4\n");
    write_text(folder / "new.yaml", "max_inst: 6\n");
    files = {folder / "new.yaml"};
    EXPECT_EQ(loaded().gpu_defaults.max_inst, 6U);
    files.push_back(folder / "nwe.yaml");
    EXPECT_NE(problems().at(0).text.find("nwe.yaml: the file: it does not exist. Try: "), std::string::npos);
}

/// Found as a drop-in with a profile's max alone, which was refused, and which a reload took.
TEST_F(ConfigLayers, FilesAreJudgedAsIfTheyWereInPlace) {
    write_text(folder / "etc.yaml", "profiles: {a: {mem: 4GiB}}\nmax_inst: 4\n");
    write_text(folder / "etc.d/50-max.yaml", "profiles: {a: {max: {mem: 1GiB}}}\n");
    write_text(folder / "new/50-max.yaml", "profiles: {a: {max: {mem: 8GiB}}}\n");
    files = {folder / "new/50-max.yaml"};
    EXPECT_EQ(loaded().profiles.at("a").max.memory, model::Bytes::from_gib(8)) << "instead of its namesake";
    write_text(folder / "new/60-less.yaml", "profiles: {a: {max: {mem: 2GiB}}}\n");
    files.push_back(folder / "new/60-less.yaml");
    EXPECT_NE(problems().at(0).text.find("etc.yaml:1: profiles.a.mem"), std::string::npos);
    write_text(folder / "new/etc.yaml", "profiles: {a: {mem: 1GiB}}\n");
    files.push_back(folder / "new/etc.yaml");
    const Config config = loaded();
    EXPECT_EQ(config.profiles.at("a").max.memory, model::Bytes::from_gib(2)) << "the last by name";
    EXPECT_EQ(config.gpu_defaults.max_inst, defaults.gpu_defaults.max_inst) << "the main file is replaced";
}

TEST_F(ConfigLayers, FilesThatAreJudgedByAnybodyDontNeedTheOthers) {
    write_text(folder / "etc.yaml", "max_inst: 4\n");
    write_text(folder / "new.yaml", "policy: fixed\n");
    files = {folder / "new.yaml"};
    ASSERT_EQ(chmod((folder / "etc.yaml").c_str(), 0), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    const AsNobody nobody;
    const auto read = load(sources());
    ASSERT_TRUE(read) << read.error().front().text;
    ASSERT_EQ(read->warnings.size(), 1U);
    EXPECT_EQ(read->warnings[0].text,
              (folder / "etc.yaml").string() +
                  ": the file or folder: it can't be read (Permission denied), so the others are judged "
                  "without it. Try: do the same as root (sudo).");
}

TEST_F(ConfigLayers, AFileWithoutPermissionIsAProblem) {
    write_text(folder / "etc.yaml", "max_inst: 4\n");
    ASSERT_EQ(chmod((folder / "etc.yaml").c_str(), 0), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    const AsNobody nobody;
    EXPECT_NE(problems().at(0).text.find("Permission denied"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::config
