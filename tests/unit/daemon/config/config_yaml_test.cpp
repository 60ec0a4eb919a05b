#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "daemon/config/yaml_layer.hpp"
#include "tests/unit/core/support/said_once.hpp"

/// Which texts are YAML, and which of these are a configuration.
namespace cgpu::config {
namespace {

std::vector<Entry> entries_of(const std::string& text) {
    Problems problems;
    auto entries = read_yaml(text, "f", problems);
    EXPECT_TRUE(problems.empty()) << problems.front().text;
    return entries;
}

std::string problem_of(const std::string& text) {
    Problems problems;
    (void)read_yaml(text, "f", problems);
    EXPECT_EQ(problems.size(), 1U) << text;
    if (problems.empty()) return "";
    test::expect_said_once(problems.front().text);
    return problems.front().text;
}

TEST(ConfigYaml, BecomesEntriesWithTheirLines) {
    const auto entries =
        entries_of("# a comment\nmax_inst: 20\nweights:\n  a.b: 3\ngpus:\n  0: {policy: fixed}\n");
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0].path, std::vector<std::string>{"max_inst"});
    EXPECT_EQ(entries[0].value, "20");
    EXPECT_EQ(entries[0].origin.text(), "f:2");
    EXPECT_EQ(entries[1].path, (std::vector<std::string>{"weights", "a.b"}));
    EXPECT_EQ(entries[1].origin.text(), "f:4");
    EXPECT_EQ(entries[2].path, (std::vector<std::string>{"gpus", "0", "policy"}));
    EXPECT_EQ(entries[2].origin.text(), "f:6");
}

TEST(ConfigYaml, NothingIsFine) {
    for (const char* text : {"", "\n", "# only a comment\n", "---\n"})
        EXPECT_TRUE(entries_of(text).empty()) << text;
}

TEST(ConfigYaml, WhatHasNothingBehindItIsMarked) {
    for (const char* text : {"gpus:\n  0:\n", "gpus: {0: {}}\n"}) {
        const auto entries = entries_of(text);
        ASSERT_EQ(entries.size(), 1U) << text;
        EXPECT_EQ(entries[0].path, (std::vector<std::string>{"gpus", "0"}));
        EXPECT_TRUE(entries[0].is_empty);
    }
    EXPECT_FALSE(entries_of("policy: \"\"\n").at(0).is_empty);
}

TEST(ConfigYaml, WhatIsNoTreeOfNamesIsRefused) {
    EXPECT_NE(problem_of("- a\n- b\n").find("not one list of keys"), std::string::npos);
    EXPECT_NE(problem_of("just text\n").find("not one list of keys"), std::string::npos);
    EXPECT_NE(problem_of("a: 1\n---\nb: 2\n").find("not one list of keys"), std::string::npos);
    EXPECT_NE(problem_of(",").find("not one list of keys"), std::string::npos);
    EXPECT_NE(problem_of("max_inst: 4\nweights").find("f:2: \"weights\": it has no value"),
              std::string::npos);
    EXPECT_NE(problem_of("a: 1\na: 2\n").find("f:2: \"a\": it is there twice"), std::string::npos);
    EXPECT_NE(problem_of("a: {b: {c: {d: 1}}}\n").find("a group of keys is not expected"), std::string::npos);
    EXPECT_NE(problem_of("[1, 2]: 3\n").find("it is not a name"), std::string::npos);
    EXPECT_NE(problem_of("a: 1\n\tb: 2\n").find("f:2: the file: it is not YAML here"), std::string::npos);
    EXPECT_NE(problem_of("a: *nowhere\n").find("it is not YAML here"), std::string::npos);
    // The parser's message contains parts of the text.
    EXPECT_NE(problem_of("a: \"\\\xff\"\n").find(R"(unknown escape character: \xff")"), std::string::npos);
}

TEST(ConfigYaml, AliasesThatLoopEnd) {
    Problems problems;
    (void)read_yaml("a: &x\n  b: *x\n", "f", problems);
    EXPECT_FALSE(problems.empty());
}

RC_GTEST_PROP(ConfigYaml, AnyTextIsAnswered, ()) {
    const auto text = *rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::elementOf(std::string("abc: \n\t-[]{}#&*!|>'\"%@?,")), rc::gen::arbitrary<char>()));
    Problems problems;
    const auto entries = read_yaml(text, "f", problems);
    for (const Entry& entry : entries) RC_ASSERT(!entry.path.empty());
}

/// Found as a file that ended in zeros, of which nothing behind the first one was read.
TEST(ConfigYaml, ControlCharactersAreRefused) {
    for (const char c : {'\0', '\4', '\x1b', '\x7f'}) {
        Problems problems;
        const std::string text = std::string("max_inst: 4\nslice_ms: 9") + c + "\npolicy: soft\n";
        EXPECT_TRUE(read_yaml(text, "f", problems).empty());
        ASSERT_EQ(problems.size(), 1U);
        EXPECT_TRUE(problems[0].text.starts_with("f:2: the file: it has the control character \"\\x"))
            << problems[0].text;
    }
    Problems none;
    EXPECT_EQ(read_yaml("a: 1\r\nb: \"\t\"\n", "f", none).size(), 2U);
    EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace cgpu::config
