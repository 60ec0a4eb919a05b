#include "core/model/instance_word.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace cgpu::model {
namespace {

using Places = std::vector<std::size_t>;

constexpr std::string_view kVictim = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kShort = "0123456789ab";

TEST(InstanceWord, EachWayComesAfterTheOthers) {
    const Named web{kVictim, "Web"};
    EXPECT_EQ(meaning_of(kVictim, web), Meaning::whole_id);
    EXPECT_EQ(meaning_of(kShort, web), Meaning::short_id);
    EXPECT_EQ(meaning_of("Web", web), Meaning::name);
    EXPECT_EQ(meaning_of("012", web), Meaning::prefix);
    EXPECT_EQ(meaning_of("0123456789abc", web), Meaning::prefix);
    EXPECT_EQ(meaning_of("wEB", web), Meaning::in_case);
    EXPECT_EQ(meaning_of("01", web), std::nullopt) << "too short for an id";
    EXPECT_EQ(meaning_of("We", web), std::nullopt) << "names have no prefixes";
    EXPECT_EQ(meaning_of("0123456789AB", web), std::nullopt) << "ids are in one case";
    EXPECT_EQ(meaning_of("", {kVictim, ""}), std::nullopt);
    EXPECT_EQ(meaning_of("web", {"web", ""}), Meaning::name) << "a chosen id is no more than a name";
}

TEST(InstanceWord, ANameDoesNotTakeThePlaceOfAnotherInstancesId) {
    const std::vector<Named> all = {{"ffff", kShort}, {kVictim, "web"}, {"eeee", kVictim}};
    EXPECT_EQ(meant_by(kShort, all), Places{1});
    EXPECT_EQ(meant_by(kVictim, all), Places{1});
    EXPECT_EQ(meant_by("web", all), Places{1});
    EXPECT_EQ(meant_by("ffff", all), Places{0});
}

TEST(InstanceWord, AChosenIdTakesThePlaceOfNothing) {
    const std::vector<Named> all = {{kVictim, "train"}, {"train", "x"}, {kShort, "y"}, {"trainer", "z"}};
    EXPECT_EQ(meant_by("train", all), (Places{0, 1})) << "neither is meant more than the other";
    EXPECT_EQ(meant_by(kShort, all), Places{0});
    EXPECT_EQ(meant_by(kVictim, all), Places{0});
    EXPECT_EQ(meant_by("trainer", all), Places{3});
    const std::vector<Named> longer = {{kVictim, "train"},
                                       {std::string_view("0123456789ab-not-drawn-but-as-long!!"), ""}};
    EXPECT_EQ(meant_by(kShort, longer), Places{0});
}

TEST(InstanceWord, WhatSeveralAreMeantByInTheSameWayIsAmbiguous) {
    const std::vector<Named> all = {
        {"my-training-1", "web"}, {"my-training-2", "web"}, {"my-other", "WEB"}, {"other", "Web"}};
    EXPECT_EQ(meant_by("web", all), (Places{0, 1}));
    EXPECT_EQ(meant_by("my-training-", all), (Places{0, 1})) << "ids that engines let users choose";
    EXPECT_EQ(meant_by("my-t", all), (Places{0, 1}));
    EXPECT_EQ(meant_by("my-o", all), Places{2});
    EXPECT_EQ(meant_by("WEB", all), Places{2});
    EXPECT_EQ(meant_by("wEB", all), (Places{0, 1, 2, 3}));
    EXPECT_EQ(meant_by("nothing", all), Places{});
}

TEST(InstanceWord, TheOwnOnesComeBeforeOthersThatAreMeantInTheSameWay) {
    const std::vector<Named> all = {
        {"1111", "train", 1001}, {"2222", "train", 1000}, {"3333", "Web", 1000}, {"4444", "web"}};
    EXPECT_EQ(meant_by("train", all, 1000), Places{1});
    EXPECT_EQ(meant_by("train", all, 1001), Places{0});
    EXPECT_EQ(meant_by("train", all, 1002), (Places{0, 1}));
    EXPECT_EQ(meant_by("train", all, 0), (Places{0, 1})) << "root has no instance that comes first";
    EXPECT_EQ(meant_by("train", all), (Places{0, 1}));
    EXPECT_EQ(meant_by("web", all, 1000), Places{3}) << "another's exact name before the own in another case";
    EXPECT_EQ(meant_by("WEB", all, 1000), Places{2});
}

TEST(InstanceWord, OnlyResemblesWhatAnotherUserCallsOtherwise) {
    const Named train{kVictim, "Train", 1000};
    for (const std::string_view word : {"train", "0123", "0123456789a"}) {
        EXPECT_TRUE(only_resembles(word, train, 1001)) << word;
        EXPECT_TRUE(only_resembles(word, train, 0)) << word;
        EXPECT_FALSE(only_resembles(word, train, 1000)) << word;
        EXPECT_FALSE(only_resembles(word, {kVictim, "Train"}, 0)) << "nobody's";
    }
    for (const std::string_view word : {"Train", "0123456789ab", "0123456789abc", "nothing"})
        EXPECT_FALSE(only_resembles(word, train, 1001)) << word;
}

TEST(InstanceWord, AnExactNameComesBeforeTheBeginningOfAnId) {
    const std::vector<Named> all = {{"abcdef0123456789", ""}, {"9999", "abcdef"}};
    EXPECT_EQ(meant_by("abcdef", all), Places{1});
    EXPECT_EQ(meant_by("abcde", all), Places{0});
}

/// Whatever others are called, and whatever their ids are if those don't begin with the same twelve
/// characters: the id of an instance, and its short id, mean it.
RC_GTEST_PROP(InstanceWord, NobodysNameCapturesAnId, ()) {
    const auto part = rc::gen::container<std::string>(rc::gen::inRange('0', '3'));
    const auto hostile = rc::gen::oneOf(part, rc::gen::element(std::string(kVictim), std::string(kShort)),
                                        rc::gen::map(rc::gen::inRange<std::size_t>(0, 33), [](std::size_t n) {
                                            return std::string(kVictim.substr(0, n));
                                        }));
    const auto others = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
        rc::gen::pair(rc::gen::nonEmpty(part), hostile));
    const auto at = *rc::gen::inRange<std::size_t>(0, others.size() + 1);
    std::vector<Named> all;
    for (const auto& [id, name] : others)
        if (!id.starts_with(kShort)) all.push_back({id, name});
    const auto place = std::min(at, all.size());
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(place), {kVictim, "web"});
    RC_ASSERT(meant_by(kVictim, all) == Places{place});
    RC_ASSERT(meant_by(kShort, all) == Places{place});
    // All that is found is found in one way, the earliest.
    const auto word = *hostile;
    const auto meant = meant_by(word, all);
    for (std::size_t each = 0; each < all.size(); ++each) {
        const auto how = meaning_of(word, all[each]);
        const bool found = std::find(meant.begin(), meant.end(), each) != meant.end();
        if (found) RC_ASSERT(how == meaning_of(word, all[meant.front()]));
        if (!found && how) RC_ASSERT(!meant.empty() && *meaning_of(word, all[meant.front()]) < *how);
    }
}

}  // namespace
}  // namespace cgpu::model
