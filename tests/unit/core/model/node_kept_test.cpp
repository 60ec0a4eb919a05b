#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

/// Settings kept for the next starts of instances.
namespace cgpu::model {
namespace {

using namespace cgpu::test;
using Reason = Refusal::Reason;

const KeptFigures kTwoGib{Bytes::from_gib(2), std::nullopt, std::nullopt};
const KeptFigures kWeight{std::nullopt, 4, std::nullopt};

/// An instance of that owner with a name besides its id.
Instance named(const std::string& id, const std::string& name, std::optional<std::uint32_t> owner = 0,
               std::vector<Quota> quotas = {quota(0, 100)}) {
    Instance made = instance(id, std::move(quotas));
    made.name = name;
    made.creator = owner;
    return made;
}

Node with(const Instance& instance) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    EXPECT_TRUE(n.add_instance(instance).has_value());
    return n;
}

TEST(NodeKept, OutlivesTheInstanceAndIsForItsOwnerAndName) {
    Node n = with(named("a1", "web", 1000));
    EXPECT_EQ(n.keep(id("a1"), uuid(0), kTwoGib), Change::changed);
    EXPECT_EQ(n.keep(id("a1"), uuid(0), kTwoGib), Change::unchanged);
    ASSERT_TRUE(n.remove_instance(id("a1")).has_value());
    EXPECT_EQ(n.kept_of(1000, id("a2"), "web"), (KeptOfInstance{{0, kTwoGib}}));
    EXPECT_TRUE(n.kept_of(0, id("a2"), "web").empty()) << "another user's";
    EXPECT_TRUE(n.kept_of(1000, id("a2"), "webs").empty());
    EXPECT_TRUE(n.kept_of(1000, id("a2"), "we").empty());
}

TEST(NodeKept, FiguresOfOneDeviceAddUpAndDevicesAreApart) {
    Node n = with(named("a1", "web", 0, {quota(1, 100), quota(0, 100)}));
    ASSERT_TRUE(n.keep(id("a1"), uuid(0), kTwoGib).has_value());
    ASSERT_TRUE(n.keep(id("a1"), uuid(0), kWeight).has_value());
    ASSERT_TRUE(n.keep(id("a1"), uuid(1), {std::nullopt, std::nullopt, false}).has_value());
    const auto kept = n.kept_of(0, id("a1"), "web");
    EXPECT_EQ(kept.at(0), (KeptFigures{std::nullopt, std::nullopt, false})) << "GPU 1 is its first one";
    EXPECT_EQ(kept.at(1), (KeptFigures{Bytes::from_gib(2), 4, std::nullopt}));
    EXPECT_EQ(describe(kept), "normal priority, memory limit 2GiB, weight 4 on its device 1");
}

TEST(NodeKept, ANameThatIsNotItsOwnIsRefusedWithTheWayOut) {
    const std::string long_id = "0123456789abcdef0123";
    for (const std::string& name :
         {std::string(), long_id, long_id.substr(0, 12), long_id.substr(0, 15), std::string(256, 'x')}) {
        Node n = with(named(long_id, name));
        const Node before = n;
        const auto refused = n.keep(id(long_id), uuid(0), kTwoGib);
        EXPECT_EQ(reason_of(refused), Reason::unsupported) << name;
        expect_well_formed(refused.error());
        EXPECT_EQ(n, before);
    }
    Node n = with(named(long_id, "0"));
    EXPECT_TRUE(n.keep(id(long_id), uuid(0), kTwoGib).has_value()) << "a short name may begin an id";
    EXPECT_TRUE(n.kept_of(0, id("0123456789ab"), "0123456789ab").empty());
}

TEST(NodeKept, RefusedWhereItCanHaveNoKeyOrNothing) {
    Node n = with(named("a1", "web", std::nullopt));
    EXPECT_EQ(reason_of(n.keep(id("a1"), uuid(0), kTwoGib)), Reason::unsupported) << "nobody knows whose";
    EXPECT_EQ(reason_of(n.keep(id("a2"), uuid(0), kTwoGib)), Reason::not_found);
    EXPECT_EQ(reason_of(n.keep(id("a1"), uuid(1), kTwoGib)), Reason::not_found);
    Node owned = with(named("a1", "web"));
    EXPECT_EQ(reason_of(owned.keep(id("a1"), uuid(0), {})), Reason::invalid);
}

TEST(NodeKept, ThereIsAnEndOfIt) {
    Node n = node({gpu(0, 16130)});
    const auto start = [&](std::size_t i) {
        static_cast<void>(n.remove_instance(id("a1")));
        ASSERT_TRUE(n.add_instance(named("a1", "job" + std::to_string(i))).has_value());
    };
    for (std::size_t i = 0; i < kMaxKept; ++i) {
        start(i);
        ASSERT_TRUE(n.keep(id("a1"), uuid(0), kTwoGib).has_value()) << i;
    }
    EXPECT_TRUE(n.keep(id("a1"), uuid(0), kWeight).has_value()) << "of one that is there already";
    start(kMaxKept);
    const auto refused = n.keep(id("a1"), uuid(0), kTwoGib);
    EXPECT_EQ(reason_of(refused), Reason::no_space);
    EXPECT_NE(text_of(refused).find("cgpuctl forget NAME"), std::string::npos) << text_of(refused);
    ASSERT_TRUE(n.forget("job0", std::nullopt).has_value());
    EXPECT_TRUE(n.keep(id("a1"), uuid(0), kTwoGib).has_value());
}

TEST(NodeKept, ForgetDropsAllDevicesOfOneOwner) {
    Node n = with(named("a1", "web", 0, {quota(0, 100), quota(1, 100)}));
    ASSERT_TRUE(n.add_instance(named("a2", "web", 1000)).has_value());
    for (const std::uint8_t gpu : {std::uint8_t{0}, std::uint8_t{1}})
        ASSERT_TRUE(n.keep(id("a1"), uuid(gpu), kTwoGib).has_value());
    ASSERT_TRUE(n.keep(id("a2"), uuid(0), kWeight).has_value());
    const auto whose = n.forget("web", std::nullopt);
    EXPECT_EQ(reason_of(whose), Reason::invalid);
    EXPECT_NE(text_of(whose).find("--owner, one of: 0, 1000"), std::string::npos) << text_of(whose);
    EXPECT_EQ(reason_of(n.forget("web", 7)), Reason::not_found);
    EXPECT_EQ(n.forget("web", 0), Change::changed);
    EXPECT_TRUE(n.kept_of(0, id("a1"), "web").empty());
    EXPECT_EQ(n.kept().size(), 1U);
    EXPECT_EQ(n.forget("web", std::nullopt), Change::changed) << "of one owner only now";
    EXPECT_EQ(reason_of(n.forget("web", std::nullopt)), Reason::not_found);
}

TEST(NodeKept, IsRestoredOrRefusedWhereItMakesNoSense) {
    const auto restore = [](const KeptKey& key, const KeptFigures& figures) {
        return Node::restore(1, {}, {}, {{key, figures}});
    };
    const auto good = restore({1000, "web", 15}, {Bytes(1), 25, true});
    ASSERT_TRUE(good.has_value()) << good.error().text;
    EXPECT_EQ(good->kept().size(), 1U);
    for (const auto& bad : {restore({0, "", 0}, kTwoGib), restore({0, std::string(256, 'x'), 0}, kTwoGib),
                            restore({0, "web", 16}, kTwoGib), restore({0, "web", 0}, {}),
                            restore({0, "web", 0}, {Bytes(), 1, std::nullopt}),
                            restore({0, "web", 0}, {std::nullopt, 26, std::nullopt}),
                            restore({0, "web", 0}, {std::nullopt, 0, std::nullopt})}) {
        ASSERT_FALSE(bad.has_value());
        expect_well_formed(bad.error());
    }
    Kept too_many;
    for (std::size_t i = 0; i <= kMaxKept; ++i) too_many[{0, "job" + std::to_string(i), 0}] = kTwoGib;
    EXPECT_FALSE(Node::restore(1, {}, {}, too_many).has_value());
}

}  // namespace
}  // namespace cgpu::model
