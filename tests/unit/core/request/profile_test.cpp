#include "core/request/profile.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/support/requests.hpp"

namespace cgpu::request {
namespace {

using namespace cgpu::test;
using model::Bytes;

Profiles profiles() {
    Profiles all;
    Profile& notebook = all["notebook"];
    notebook.values = {Bytes::from_gib(4), 25, std::nullopt, std::nullopt};
    notebook.max = {Bytes::from_gib(8), 50, std::nullopt, 1};
    Profile& pair = all["pair"];
    pair.values = {Bytes::from_gib(2), std::nullopt, 3, 2};
    pair.max.weight = 5;
    return all;
}

Request resolved(const Variables& variables) {
    Request request = request_in(variables);
    const auto applied = apply_profile(request, profiles());
    EXPECT_TRUE(applied) << applied.error().text;
    return request;
}

std::string refused_by_profile(const Variables& variables) {
    Request request = request_in(variables);
    const auto applied = apply_profile(request, profiles());
    if (applied) return {};
    expect_well_formed(applied.error());
    return applied.error().text;
}

TEST(Profile, SaysWhatTheRequestDoesnt) {
    const auto request = resolved({{"CGPU_PROFILE", "notebook"}});
    EXPECT_EQ(request.memory, std::vector<MemoryAsk>{Bytes::from_gib(4)});
    EXPECT_EQ(request.percent, 25U);
    EXPECT_EQ(request.count, 1U);
    const auto pair = resolved({{"CGPU_PROFILE", " pair "}});
    EXPECT_EQ(pair.weight, 3U);
    EXPECT_EQ(pair.count, 2U);
}

TEST(Profile, IsOverriddenByWhatIsAskedBesides) {
    const auto request =
        resolved({{"CGPU_PROFILE", "notebook"}, {"CGPU_MEM", "6GiB"}, {"CGPU_COMPUTE", "50%"}});
    EXPECT_EQ(request.memory, std::vector<MemoryAsk>{Bytes::from_gib(6)});
    EXPECT_EQ(request.percent, 50U);
    EXPECT_EQ(resolved({{"CGPU_PROFILE", "pair"}, {"CGPU_GPUS", "0"}}).gpus.size(), 1U);
    EXPECT_EQ(resolved({{"CGPU_PROFILE", "pair"}, {"CGPU_WEIGHT", "5"}}).weight, 5U);
    EXPECT_EQ(resolved({{"CGPU_PROFILE", "pair"}, {"CGPU_MEM", "100GiB"}}).memory.size(), 1U)
        << "it has no maximum";
}

TEST(Profile, HasAPriority) {
    Profiles all = profiles();
    all["notebook"].values.high_priority = true;
    const auto high = [&](Variables variables) {
        variables.emplace("CGPU_PROFILE", "notebook");
        Request request = request_in(variables);
        const auto applied = apply_profile(request, all);
        return applied ? std::optional(request.high_priority) : std::nullopt;
    };
    EXPECT_EQ(high({}), true);
    EXPECT_EQ(high({{"CGPU_PRIO", "normal"}}), false);
    all["notebook"].values.high_priority.reset();
    EXPECT_EQ(high({{"CGPU_PRIO", "high"}}), true);
    all["notebook"].max.high_priority = false;
    EXPECT_FALSE(exceeds_its_max(all["notebook"]));
    EXPECT_EQ(high({{"CGPU_PRIO", "high"}}), std::nullopt);
    EXPECT_EQ(high({{"CGPU_PRIO", "normal"}}), false);
    Request request = request_in({{"CGPU_PROFILE", "notebook"}, {"CGPU_PRIO", "high"}});
    const auto refused = apply_profile(request, all);
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().text,
        "high priority with CGPU_PROFILE=\"notebook\": the profile allows normal priority only. Try: ask "
        "for normal priority (CGPU_PRIO=normal).");
    model::Quota kept;
    kept.high_priority = true;
    EXPECT_FALSE(check_granted(request, all, {kept})) << "what is kept for it may be more";
    all["notebook"].values.high_priority = true;
    EXPECT_TRUE(exceeds_its_max(all["notebook"]));
}

TEST(Profile, HoldsItsMaximum) {
    EXPECT_EQ(
        refused_by_profile({{"CGPU_PROFILE", "notebook"}, {"CGPU_MEM", "9GiB"}}),
        "9GiB with CGPU_PROFILE=\"notebook\": the profile allows 8GiB at most. Try: ask for 8GiB or less.");
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "notebook"}, {"CGPU_COMPUTE", "51%"}}), "");
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "notebook"}, {"CGPU_WEIGHT", "1"}}), "")
        << "its part isn't known";
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "notebook"}, {"CGPU_GPUS", "0,1"}}), "");
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "notebook"}, {"CGPU_GPUS", "all"}}), "");
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "pair"}, {"CGPU_WEIGHT", "6"}}), "");
    EXPECT_NE(refused_by_profile({{"CGPU_PROFILE", "pair"}, {"CGPU_COMPUTE", "5%"}}), "");
}

TEST(Profile, HoldsItsMaximumOfWhatAShareOfTheCardIs) {
    Request request = resolved({{"CGPU_PROFILE", "notebook"},
                                {"ALIYUN_COM_GPU_MEM_CONTAINER", "4"},
                                {"ALIYUN_COM_GPU_MEM_DEV", "4"}});
    EXPECT_TRUE(check_granted(request, profiles(), {quota(0, 8192)}));
    EXPECT_FALSE(check_granted(request, profiles(), {quota(0, 8192), quota(1, 8193)}));
    request.profile = "";
    EXPECT_TRUE(check_granted(request, profiles(), {quota(0, 16130)}));
}

TEST(Profile, AsksForNoMoreThanItAllows) {
    EXPECT_FALSE(exceeds_its_max(profiles().at("notebook")));
    EXPECT_FALSE(exceeds_its_max(profiles().at("pair")));
    Profile contradicts = profiles().at("pair");
    contradicts.max.gpus = 1;
    EXPECT_TRUE(exceeds_its_max(contradicts));
    contradicts = profiles().at("pair");
    contradicts.max = {std::nullopt, 50, std::nullopt, std::nullopt};
    EXPECT_TRUE(exceeds_its_max(contradicts)) << "its weight is no percentage";
}

TEST(Profile, IsOneThatTheNodeHas) {
    EXPECT_EQ(refused_by_profile({{"CGPU_PROFILE", "notebok"}}),
              "CGPU_PROFILE=\"notebok\": this node has no such profile. Try: use one of notebook, pair.");
    EXPECT_FALSE(parse_request({{"CGPU_PROFILE", "a b"}}));
    EXPECT_FALSE(parse_request({{"CGPU_PROFILE", ""}}));
    EXPECT_FALSE(*parse_request({{"CGPU_PROFILE", "notebook"}, {"CGPU_DISABLE", "1"}}));
    Request none = request_in({{"CGPU_MEM", "1GiB"}});
    EXPECT_TRUE(apply_profile(none, {}));
    Request request = request_in({{"CGPU_PROFILE", "notebook"}});
    EXPECT_FALSE(apply_profile(request, {}));
}

TEST(Profile, HasATime) {
    auto all = profiles();
    all["notebook"].values.time = 3600;
    all["notebook"].max.time = 7200;
    all["pair"].max.time = 600;
    const auto time_of = [&](const Variables& variables) {
        Request request = request_in(variables);
        EXPECT_TRUE(apply_profile(request, all));
        return request.time;
    };
    EXPECT_EQ(time_of({{"CGPU_PROFILE", "notebook"}}), 3600U);
    EXPECT_EQ(time_of({{"CGPU_PROFILE", "notebook"}, {"CGPU_TIME", "2h"}}), 7200U);
    EXPECT_EQ(time_of({{"CGPU_PROFILE", "pair"}}), 600U) << "the longest, if it has none";
    Request longer = request_in({{"CGPU_PROFILE", "notebook"}, {"CGPU_TIME", "121m"}});
    const auto refused = apply_profile(longer, all);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("2h1m with CGPU_PROFILE=\"notebook\": the profile allows 2h at most"),
              std::string::npos)
        << refused.error().text;
    all["pair"].values.time = 601;
    EXPECT_TRUE(exceeds_its_max(all["pair"]));
}

TEST(Profile, HasATimeWithoutWork) {
    auto all = profiles();
    all["notebook"].values.idle = 1200;
    all["notebook"].max.idle = 1800;
    all["pair"].max.idle = 600;
    const auto idle_of = [&](const Variables& variables) {
        Request request = request_in(variables);
        EXPECT_TRUE(apply_profile(request, all));
        return request.idle;
    };
    EXPECT_EQ(idle_of({{"CGPU_PROFILE", "notebook"}}), 1200U);
    EXPECT_EQ(idle_of({{"CGPU_PROFILE", "notebook"}, {"CGPU_IDLE", "30m"}}), 1800U);
    EXPECT_EQ(idle_of({{"CGPU_PROFILE", "pair"}}), 600U) << "the longest, if it has none";
    Request longer = request_in({{"CGPU_PROFILE", "notebook"}, {"CGPU_IDLE", "31m"}});
    const auto refused = apply_profile(longer, all);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find(
                  "31m without work with CGPU_PROFILE=\"notebook\": the profile allows 30m at most"),
              std::string::npos)
        << refused.error().text;
    all["pair"].values.idle = 601;
    EXPECT_TRUE(exceeds_its_max(all["pair"]));
}

TEST(Time, IsReadFromTheVariable) {
    const auto request = request_in({{"CGPU_MEM", "1GiB"}, {"CGPU_TIME", "1h30m"}, {"CGPU_IDLE", "30m"}});
    EXPECT_EQ(request.time, 5400U);
    EXPECT_EQ(request.idle, 1800U);
    EXPECT_FALSE(request_in({{"CGPU_MEM", "1GiB"}}).time);
    EXPECT_FALSE(request_in({{"CGPU_MEM", "1GiB"}}).idle);
    for (const std::string name : {"CGPU_TIME", "CGPU_IDLE"}) {
        for (const char* text : {"2", "soon", "0s", " "}) {
            const auto refused = parse_request({{"CGPU_MEM", "1GiB"}, {name, text}});
            ASSERT_FALSE(refused) << text;
            EXPECT_TRUE(refused.error().text.starts_with(name + "=")) << refused.error().text;
            expect_well_formed(refused.error());
        }
        EXPECT_FALSE(parse_request({{name, "2h"}})) << "nothing is managed without memory";
    }
}

}  // namespace
}  // namespace cgpu::request
