#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/load.hpp"
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

TEST_F(ConfigLayers, NamedFilesAreReadLastAndMustExist) {
    write_text(folder / "etc.yaml", "max_inst: 4\n");
    write_text(folder / "new.yaml", "max_inst: 6\n");
    files = {folder / "new.yaml"};
    EXPECT_EQ(loaded().gpu_defaults.max_inst, 6U);
    files.push_back(folder / "nwe.yaml");
    EXPECT_NE(problems().at(0).text.find("nwe.yaml: the file: it does not exist. Try: "), std::string::npos);
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
