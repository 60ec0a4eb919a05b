#include <unistd.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/cgpuctl/batch/apply.hpp"
#include "client/cgpuctl/batch/batch.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/temp_root.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Change;
using Kind = client::ClientError::Kind;

std::string error_of(const std::string& text) {
    const auto batch = read_batch(text, "file");
    EXPECT_FALSE(batch);
    return batch ? "" : batch.error().text;
}

TEST(Batch, EveryVerbThatItTakes) {
    const auto batch = read_batch(
        "# all of them\n"
        "set-policy 0 weighted\n"
        "\n"
        "  set-max-inst 0 20   # slices\r\n"
        "set-prio-ratio 1 80\n"
        "set-memory web \"my job\" 4GiB --gpu 1\n"
        "set-weight web 4\n"
        "set-priority web HIGH\n"
        "revert 1 db GPU-00000000-0000-0000-0000-000000000000\n"
        "revert 7 --gpu 0\n"
        "drain 0 1\n"
        "undrain 0\n"
        "pause web\n"
        "resume web --gpu 1\n"
        "set-weight web 0",
        "file");
    ASSERT_TRUE(batch) << batch.error().text;
    EXPECT_EQ(batch->changes, (std::vector<Change>{
                                  {.instance = "", .gpu = "0", .policy = "weighted"},
                                  {.instance = "", .gpu = "0", .max_inst = 20},
                                  {.instance = "", .gpu = "1", .prio_ratio = 80},
                                  {.instance = "web", .gpu = "1", .memory_limit = std::uint64_t{4} << 30},
                                  {.instance = "my job", .gpu = "1", .memory_limit = std::uint64_t{4} << 30},
                                  {.instance = "web", .gpu = "", .weight = 4},
                                  {.instance = "web", .gpu = "", .high_priority = true},
                                  {.instance = "", .gpu = "1", .revert = true},
                                  {.instance = "db", .gpu = "", .revert = true},
                                  {.instance = "", .gpu = kUuid0, .revert = true},
                                  {.instance = "7", .gpu = "0", .revert = true},
                                  {.instance = "", .gpu = "0", .drained = true},
                                  {.instance = "", .gpu = "1", .drained = true},
                                  {.instance = "", .gpu = "0", .drained = false},
                                  {.instance = "web", .gpu = "", .paused = true},
                                  {.instance = "web", .gpu = "1", .paused = false},
                                  {.instance = "web", .gpu = "", .weight = 0},
                              }));
    EXPECT_EQ(batch->lines,
              (std::vector<std::size_t>{2, 4, 5, 6, 6, 7, 8, 9, 9, 9, 10, 11, 11, 12, 13, 14, 15}));
    EXPECT_TRUE(read_batch("", "file")->changes.empty());
    EXPECT_TRUE(read_batch("\n# nothing\n", "file")->changes.empty());
}

TEST(Batch, WhatIsWrongIsSaidByItsLine) {
    EXPECT_EQ(error_of("set-weight web 4\nlist\n"),
              "file:2: \"list\": a batch can't have it. Try: use one of drain, pause, resume, revert, "
              "set-max-inst, set-memory, set-policy, set-prio-ratio, set-priority, set-weight, undrain.");
    EXPECT_EQ(error_of("revert 0 mode"),
              "file:1: mode: a batch can't revert it. Try: give it a cgpuctl revert of its own.");
    EXPECT_TRUE(error_of("revert mode --drain").starts_with("file:1: revert: of options it can only have"));
    EXPECT_EQ(
        error_of("set-weight web four"),
        "file:1: weight \"four\": it is neither a whole number of slices nor of per cent. Try: 4, or 25%.");
    EXPECT_EQ(error_of("\n\nset-policy 0 best").substr(0, 22), "file:3: policy \"best\":");
    EXPECT_EQ(error_of("set-priority web hihg"),
              "file:1: priority \"hihg\": there is no such. Try: high or normal.");
    EXPECT_EQ(error_of("set-weight \"web 4"),
              "file:1: the line: its double quote is not closed. Try: write a second one after the word.");
    EXPECT_TRUE(error_of("set-weight web").starts_with("file:1: cgpuctl set-weight: N is required."));
    for (const char* option : {"--dry-run", "--persist", "--json", "-q", "--host=there", "--help"})
        EXPECT_EQ(
            error_of("set-weight web 4 " + std::string(option)),
            "file:1: set-weight: of options it can only have --gpu here. Try: give the others to cgpuctl "
            "apply, for the whole batch.");
}

TEST(Batch, ARefusalIsNamedByItsLine) {
    const Batch batch{{{}, {}}, {3, 9}};
    const auto named = [&](const std::string& text) {
        return name_line({Kind::refused, text}, batch, "file").text;
    };
    EXPECT_EQ(named("change 2: weight 4: none. Try: 3."), "file:9: weight 4: none. Try: 3.");
    EXPECT_EQ(named("change 3: there is none."), "change 3: there is none.");
    EXPECT_EQ(named("generation 4: it has changed: 5."), "generation 4: it has changed: 5.");
    EXPECT_EQ(named("change x: y."), "change x: y.");
}

class Apply : public VerbTest<ApplyInput> {
  protected:
    client::Result<void> call() { return VerbTest<ApplyInput>::call(&apply); }
    void write(const std::string& text) {
        folder_.file("/batch", text);
        input_.file = folder_.at("/batch");
    }
    client::TempRoot folder_;
};

TEST_F(Apply, SaysHowManyAndTheGeneration) {
    write("set-policy 0 weighted\nset-weight web 4\n");
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.applied.size(), 2U);
    EXPECT_EQ(screen_.out.str(), "2 changes made; the node's generation is 43.\n");
}

TEST_F(Apply, DrainsAllGpusOfTheNode) {
    write("set-weight web 4\ndrain node\nset-policy 0 best\n");
    EXPECT_FALSE(call());
    write("set-weight web 4\ndrain node\nset-policy 0 fixed\n");
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.calls,
              std::vector<std::string>{"web [] weight 4; GPU 0 drained; GPU 1 drained; GPU 0 policy fixed"});
    node_.refusals["web [] weight 4; GPU 0 drained; GPU 1 drained; GPU 0 policy fixed"] = {
        Kind::refused, "change 4: GPU 0: no. Try: yes."};
    EXPECT_EQ(call().error().text, input_.file + ":3: GPU 0: no. Try: yes.");
}

TEST_F(Apply, PassesItsOptionsOn) {
    write("set-weight web 4\n");
    input_.if_generation = "41";
    input_.persist = input_.force = input_.dry_run = input_.json = true;
    ASSERT_TRUE(call());
    ASSERT_EQ(node_.calls.size(), 1U);
    EXPECT_TRUE(node_.calls[0].starts_with("web [] weight 4 to 41")) << node_.calls[0];
    for (const char* option : {"persist", "force", "dry-run"})
        EXPECT_NE(node_.calls[0].find(option), std::string::npos) << node_.calls[0];
    const auto json = nlohmann::json::parse(screen_.out.str());
    EXPECT_EQ(json, (nlohmann::json{{"changes", 1}, {"generation", 43}, {"dry_run", true}}));
}

TEST_F(Apply, WhatCgpudRefusesHasItsLine) {
    write("# two\nset-weight web 4\nset-weight train 4\n");
    node_.answer = client::fail(Kind::refused, "change 2: weight 4 for train: no. Try: 3.");
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().text, input_.file + ":3: weight 4 for train: no. Try: 3.");
}

TEST_F(Apply, AWordThatIsNoGpuHasItsLine) {
    write("undrain 1\ndrain all\n");
    const auto done = call();
    ASSERT_FALSE(done);
    EXPECT_TRUE(
        done.error().text.starts_with(input_.file + ":2: GPU \"all\": there is no such GPU. Try: use node"))
        << done.error().text;
}

TEST_F(Apply, WhatIsMissingIsLeftOut) {
    write("set-weight web gone 4\nset-policy 7 weighted\nset-policy 0 weighted\n");
    input_.skip_missing = true;
    ASSERT_TRUE(call());
    ASSERT_EQ(node_.applied.size(), 2U);
    EXPECT_EQ(screen_.out.str(), "2 changes made; the node's generation is 43.\n");
    EXPECT_EQ(screen_.err.str(), "warning: " + input_.file +
                                     ":1: gone: there is no such instance; it is left out\nwarning: " +
                                     input_.file + ":2: GPU 7: there is no such GPU; it is left out\n");
    screen_.out.str("");
    input_.json = true;
    write("set-weight gone 4\n");
    ASSERT_TRUE(call());
    EXPECT_EQ(nlohmann::json::parse(screen_.out.str()),
              (nlohmann::json{{"changes", 0}, {"skipped", 1}, {"generation", 43}, {"dry_run", false}}));
}

TEST_F(Apply, WhatOnlyResemblesAnotherUsersInstanceIsMissing) {
    node_.snapshot.instances[0].owner = geteuid() + 54321;
    write("set-weight WEB 4\nset-weight web 4\n");
    input_.skip_missing = true;
    ASSERT_TRUE(call());
    ASSERT_EQ(node_.applied.size(), 1U);
    EXPECT_EQ(node_.applied[0].instance, "web");
}

TEST_F(Apply, WhatEndsBetweenIsLeftOutAtASecondAttempt) {
    write("set-policy 0 weighted\nset-weight web 4\n");
    input_.skip_missing = true;
    node_.refusals.emplace("GPU 0 policy weighted; web [] weight 4",
                           client::ClientError{Kind::not_found, "change 2: web: it is gone. Try: another."});
    node_.before_reading = [&](client::Snapshot& now) {
        if (node_.readings == 2) now.instances.clear();
    };
    ASSERT_TRUE(call());
    EXPECT_EQ(node_.applied.size(), 1U);
    node_.refusals.emplace("GPU 0 policy weighted",
                           client::ClientError{Kind::refused, "change 1: no. Try: another."});
    EXPECT_EQ(call().error().text, input_.file + ":1: no. Try: another.") << "other refusals stay";
}

TEST_F(Apply, NothingIsSentIfTheFileOrAnOptionIsWrong) {
    write("set-weight web 4\nnonsense\n");
    EXPECT_FALSE(call());
    input_.if_generation = "new";
    EXPECT_EQ(call().error().text,
              "generation \"new\": it is not a whole number. Try: use digits only, such as 4.");
    input_.if_generation = "99999999999999999999";
    EXPECT_EQ(call().error().text,
              "generation \"99999999999999999999\": it is too large. Try: 18446744073709551615 at most.");
    input_ = {};
    input_.file = "/nonexistent/batch";
    EXPECT_EQ(call().error().text,
              "/nonexistent/batch: it can't be read. Try: give a file with a command a line, or - "
              "for standard input.");
    EXPECT_TRUE(node_.calls.empty());
}

TEST(Describe, PrintsWhatCgpudSays) {
    FakeNode node;
    Screen screen;
    auto terminal = screen.terminal({});
    node.description = R"({"generation":7})";
    ASSERT_TRUE(describe({}, node, terminal));
    EXPECT_EQ(screen.out.str(), "{\n  \"generation\": 7\n}\n");
    node.description = "nonsense";
    EXPECT_FALSE(describe({}, node, terminal));
}

}  // namespace
}  // namespace cgpu::cgpuctl
