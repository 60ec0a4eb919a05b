#include "client/cgpuctl/top/dialog/dialog.hpp"

#include <gtest/gtest.h>

namespace cgpu::cgpuctl::top {
namespace {

using State = Dialog::State;
using What = Subject::What;

const PlaceId kPlace{"fedcba", "GPU-1"};

State press_all(Dialog& dialog, const std::string& text) {
    State state = State::open;
    for (const char c : text)
        state = dialog.press(c == '\n' ? Key{Key::Kind::enter} : Key{Key::Kind::text, std::string(1, c)});
    return state;
}

TEST(TopDialog, AsksForTheValueAndThenWhetherItIsMeant) {
    Dialog dialog({What::weight, kPlace, "train on GPU 0", "2"});
    EXPECT_EQ(dialog.line(), "New weight of train on GPU 0 (now 2; slices): ");
    EXPECT_EQ(press_all(dialog, "13"), State::open);
    EXPECT_EQ(dialog.line(), "New weight of train on GPU 0 (now 2; slices): 13");
    EXPECT_EQ(dialog.press({Key::Kind::backspace}), State::open);
    EXPECT_EQ(press_all(dialog, "\n"), State::open);
    EXPECT_EQ(dialog.line(), "Weight 1 of train on GPU 0: set it? [y/N] ");
    EXPECT_EQ(press_all(dialog, "y"), State::confirmed);
    EXPECT_EQ(dialog.change(), (client::Change{.instance = "fedcba", .gpu = "GPU-1", .weight = 1}));
}

TEST(TopDialog, AnythingButYesChangesNothing) {
    for (const Key& key : {Key{Key::Kind::enter}, Key{Key::Kind::escape}, Key{Key::Kind::text, "n"}}) {
        Dialog dialog({What::weight, kPlace, "train", "2"});
        EXPECT_EQ(press_all(dialog, "3\n"), State::open);
        EXPECT_EQ(dialog.press(key), State::cancelled);
    }
    Dialog dialog({What::weight, kPlace, "train", "2"});
    EXPECT_EQ(press_all(dialog, "3"), State::open);
    EXPECT_EQ(dialog.press({Key::Kind::escape}), State::cancelled);
    Dialog empty({What::weight, kPlace, "train", "2"});
    EXPECT_EQ(press_all(empty, "\n"), State::cancelled);
}

TEST(TopDialog, WhoIsSureIsAskedForTheValueOnly) {
    Dialog dialog({What::weight, kPlace, "train", "2"}, true);
    EXPECT_EQ(press_all(dialog, "x\n"), State::open) << "no value";
    EXPECT_NE(dialog.error(), "");
    EXPECT_EQ(dialog.press({Key::Kind::backspace}), State::open);
    EXPECT_EQ(press_all(dialog, "3\n"), State::confirmed);
    EXPECT_EQ(dialog.change(), (client::Change{.instance = "fedcba", .gpu = "GPU-1", .weight = 3}));
}

TEST(TopDialog, PriorityInAnyCase) {
    Dialog dialog({What::priority, kPlace, "train", "normal"});
    EXPECT_EQ(press_all(dialog, "High\ny"), State::confirmed);
    EXPECT_EQ(dialog.change(), (client::Change{.instance = "fedcba", .gpu = "GPU-1", .high_priority = true}));
}

TEST(TopDialog, ThePolicyIsTheGpus) {
    for (const char* text : {"3\ny", "fixed\ny"}) {
        Dialog dialog({What::policy, kPlace, "GPU 0", "weighted"});
        EXPECT_EQ(press_all(dialog, text), State::confirmed);
        EXPECT_EQ(dialog.change(), (client::Change{.instance = "", .gpu = "GPU-1", .policy = "fixed"}));
    }
}

TEST(TopDialog, AValueThatCantBeIsRefusedAndCanBeCorrected) {
    struct Case {
        What what;
        const char* typed;
        const char* said;
    };
    for (const Case& each :
         {Case{What::weight, "x", "weight \"x\": "}, Case{What::priority, "hgh", "Try: high"},
          Case{What::policy, "wieghted", "Try: type weighted"}}) {
        Dialog dialog({each.what, kPlace, "train", ""});
        EXPECT_EQ(press_all(dialog, std::string(each.typed) + "\n"), State::open);
        EXPECT_NE(dialog.error().find(each.said), std::string::npos) << dialog.error();
        EXPECT_TRUE(dialog.line().ends_with(each.typed)) << dialog.line();
        dialog.press({Key::Kind::backspace});
        EXPECT_EQ(dialog.error(), "");
    }
}

TEST(TopDialog, EditingTakesWholeCharactersAway) {
    std::string line = "gr";
    EXPECT_TRUE(edit(line, {Key::Kind::text, "ö"}));
    EXPECT_EQ(line, "grö");
    EXPECT_TRUE(edit(line, {Key::Kind::backspace}));
    EXPECT_EQ(line, "gr");
    EXPECT_FALSE(edit(line, {Key::Kind::up}));
    line.clear();
    EXPECT_FALSE(edit(line, {Key::Kind::backspace}));
    line = std::string(64, 'x');
    EXPECT_FALSE(edit(line, {Key::Kind::text, "x"}));
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
