#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;
using Reason = Refusal::Reason;

TEST(NodeInstances, ANewOneIsBookedAndGetsAGeneration) {
    Node n = v100();
    EXPECT_EQ(n.add_instance(instance("a", {quota(0, 4301, 3)})), Change::changed);
    EXPECT_EQ(n.allocated(uuid(0)), Bytes::from_mib(4301));
    EXPECT_EQ(n.free_memory(uuid(0)), Bytes::from_mib(16130 - 4301));
    EXPECT_EQ(n.free_weight(uuid(0)), 17U);
    EXPECT_EQ(n.find_instance(id("a"))->generation, n.generation());
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(0, 1)}))), Reason::exists);
}

TEST(NodeInstances, OneThatIsMadeAnewIsAnother) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)})).has_value());
    const auto first = n.find_instance(id("a"))->generation;
    ASSERT_TRUE(n.remove_instance(id("a")).has_value());
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)})).has_value());
    EXPECT_NE(n.find_instance(id("a"))->generation, first);
}

TEST(NodeInstances, AnIdIsNotTheShortIdOfAnother) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("0123456789abcdef0123456789abcdef", {quota(0, 1)})).has_value());
    EXPECT_EQ(reason_of(n.add_instance(instance("0123456789ab", {quota(0, 1)}))), Reason::exists);
    EXPECT_TRUE(n.add_instance(instance("0123456789ac", {quota(0, 1)})).has_value());
}

TEST(NodeInstances, APercentageStaysOneAndIsWholeSlices) {
    Node n = v100();  // 20 slices
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1, 2)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 1, 10)})).has_value());
    EXPECT_EQ(n.set_percent(id("a"), uuid(0), 25), Change::changed);
    EXPECT_EQ(n.set_percent(id("a"), uuid(0), 25), Change::unchanged);
    EXPECT_EQ(n.find_instance(id("a"))->quotas[0].weight, 5U);
    EXPECT_EQ(n.find_instance(id("a"))->quotas[0].percent, 25U);
    EXPECT_EQ(n.find_instance(id("a"))->quotas[0].admitted->weight, 2U);
    const auto odd = n.set_percent(id("a"), uuid(0), 33);
    EXPECT_EQ(reason_of(odd), Reason::invalid);
    EXPECT_NE(text_of(odd).find("a multiple of 5%"), std::string::npos) << text_of(odd);
    for (const std::uint32_t outside : {0U, 101U})
        EXPECT_EQ(reason_of(n.set_percent(id("a"), uuid(0), outside)), Reason::invalid);
    EXPECT_EQ(reason_of(n.set_percent(id("a"), uuid(0), 55)), Reason::no_space);
    ASSERT_TRUE(n.set_max_inst(uuid(0), 24).has_value());
    EXPECT_EQ(n.find_instance(id("a"))->quotas[0].weight, 6U) << "the same part of more slices";
    EXPECT_EQ(n.set_weight(id("a"), uuid(0), 6), Change::changed) << "no percentage any more";
    EXPECT_EQ(n.set_percent(id("a"), uuid(0), 25), Change::changed) << "and one again";
}

TEST(NodeInstances, NobodyTakesTheShortIdOfAnotherUsers) {
    Node n = v100();
    const auto owned = [](const std::string& id, std::uint32_t owner) {
        Instance made = instance(id, {quota(0, 1)});
        made.creator = owner;
        return made;
    };
    const std::string begins = "0123456789ab";
    ASSERT_TRUE(n.add_instance(owned(begins + std::string(20, '0'), 0)).has_value());
    EXPECT_EQ(reason_of(n.add_instance(owned(begins + std::string(20, '1'), 1000))), Reason::exists);
    const auto same = n.add_instance(owned(begins + std::string(20, '0'), 1000));
    EXPECT_NE(text_of(same).find("of user id 0"), std::string::npos) << text_of(same);
    ASSERT_TRUE(n.add_instance(owned("f" + begins + std::string(20, '0'), 1000)).has_value());
    EXPECT_TRUE(n.add_instance(owned("f" + begins + std::string(20, '1'), 1000)).has_value());
    EXPECT_TRUE(n.add_instance(owned("f" + begins + std::string(20, '2'), 0)).has_value())
        << "root's container starts";
}

TEST(NodeInstances, NothingIsBookedWhenOneOfItsGpusRefuses) {
    Node n = node({gpu(0, 16130), gpu(1, 1000)});
    const Node before = n;
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(0, 2000), quota(1, 2000)}))), Reason::no_memory);
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(0, 1), quota(0, 1)}))), Reason::invalid);
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {}))), Reason::invalid);
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(0, 0)}))), Reason::invalid);
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(9, 1)}))), Reason::not_found);
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {quota(0, 1, 21)}))), Reason::no_space);
    EXPECT_EQ(n, before);
}

TEST(NodeInstances, AGpuTakesMaxInstOfThem) {
    Node n = v100();
    ASSERT_TRUE(n.set_max_inst(uuid(0), 2).has_value());
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 1)})).has_value());
    const auto third = n.add_instance(instance("c", {quota(0, 1, 0)}));
    EXPECT_EQ(reason_of(third), Reason::no_space);
    EXPECT_NE(text_of(third).find("max_inst is 2"), std::string::npos) << text_of(third);
}

TEST(NodeInstances, AnExclusiveOneIsAlone) {
    Quota whole = quota(0, 100, 20);
    whole.exclusive = true;
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("other", {quota(0, 100, 0)})).has_value());
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {whole}))), Reason::busy);
    ASSERT_TRUE(n.remove_instance(id("other")).has_value());
    ASSERT_TRUE(n.add_instance(instance("a", {whole})).has_value());
    EXPECT_EQ(reason_of(n.add_instance(instance("other", {quota(0, 100, 0)}))), Reason::busy);
    // With less than all of the compute, it no longer has the GPU to itself.
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 19).has_value());
    EXPECT_TRUE(n.add_instance(instance("other", {quota(0, 100, 1)})).has_value());
}

TEST(NodeInstances, AGpuServesOneModeAtATime) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)}, Mode::memory)).has_value());
    EXPECT_EQ(reason_of(n.add_instance(instance("b", {quota(0, 1)}))), Reason::busy);
    EXPECT_TRUE(n.add_instance(instance("c", {quota(0, 1)}, Mode::memory)).has_value());
}

TEST(NodeInstances, AGpuWithAnObstacleTakesNone) {
    Sighting mig = gpu(0, 16130);
    mig.gpu.obstacle = "the card is divided by MIG, whose parts are not shared further";
    Node n = node({mig});
    const auto refused = n.add_instance(instance("a", {quota(0, 1)}));
    EXPECT_EQ(reason_of(refused), Reason::unsupported);
    EXPECT_NE(text_of(refused).find("MIG"), std::string::npos);
}

TEST(NodeInstances, WeightKeepsItsRangeAndWhatIsFree) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1, 5)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 1, 10)})).has_value());
    EXPECT_EQ(reason_of(n.set_weight(id("a"), uuid(0), 0)), Reason::invalid);
    EXPECT_EQ(reason_of(n.set_weight(id("a"), uuid(0), 21)), Reason::invalid);
    const auto refused = n.set_weight(id("a"), uuid(0), 11);
    EXPECT_EQ(reason_of(refused), Reason::no_space);
    EXPECT_NE(text_of(refused).find("10 at most"), std::string::npos) << text_of(refused);
    EXPECT_EQ(n.set_weight(id("a"), uuid(0), 10), Change::changed);
    EXPECT_EQ(n.set_weight(id("a"), uuid(0), 10), Change::unchanged);
    EXPECT_EQ(n.free_weight(uuid(0)), 0U);
    EXPECT_EQ(reason_of(n.set_weight(id("nobody"), uuid(0), 1)), Reason::not_found);
    EXPECT_EQ(reason_of(n.set_weight(id("a"), uuid(9), 1)), Reason::not_found);
}

TEST(NodeInstances, MemoryStaysWithinTheCardAndAboveWhatIsUsed) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 4000)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 12000)})).has_value());
    const auto mib = [](std::uint64_t count) { return Bytes::from_mib(count); };
    EXPECT_EQ(reason_of(n.set_memory(id("a"), uuid(0), Bytes(), Bytes())), Reason::invalid);
    EXPECT_EQ(reason_of(n.set_memory(id("a"), uuid(0), mib(4131), Bytes())), Reason::no_memory);
    EXPECT_EQ(reason_of(n.set_memory(id("a"), uuid(0), Bytes(~0ULL), Bytes())), Reason::no_memory);
    EXPECT_EQ(reason_of(n.set_memory(id("a"), uuid(0), mib(1000), mib(1001))), Reason::busy);
    EXPECT_EQ(n.set_memory(id("a"), uuid(0), mib(4130), Bytes()), Change::changed);
    EXPECT_EQ(n.set_memory(id("a"), uuid(0), mib(4130), mib(4130)), Change::unchanged);
    EXPECT_EQ(n.set_memory(id("a"), uuid(0), mib(1000), mib(1000)), Change::changed);
    EXPECT_EQ(n.free_memory(uuid(0)), mib(3130));
}

TEST(NodeInstances, AttachesToOneProcess) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)})).has_value());
    const Process process{4242, 77, "boot"};
    EXPECT_EQ(reason_of(n.attach(id("a"), {0, 77, "boot"})), Reason::invalid);
    EXPECT_EQ(n.attach(id("a"), process), Change::changed);
    EXPECT_EQ(n.attach(id("a"), process), Change::unchanged);
    EXPECT_EQ(reason_of(n.attach(id("a"), {4242, 78, "boot"})), Reason::busy);
    EXPECT_EQ(reason_of(n.attach(id("b"), process)), Reason::not_found);
    const Process another{4243, 78, "boot"};
    EXPECT_EQ(n.go_on_with(id("a"), another), Change::changed);
    EXPECT_EQ(n.go_on_with(id("a"), another), Change::unchanged);
    EXPECT_EQ(n.find_instance(id("a"))->attached, another);
    EXPECT_EQ(reason_of(n.go_on_with(id("a"), {0, 78, "boot"})), Reason::invalid);
    EXPECT_EQ(reason_of(n.go_on_with(id("b"), another)), Reason::not_found);
}

TEST(NodeInstances, PriorityAndRemoval) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 1)})).has_value());
    EXPECT_EQ(n.set_high_priority(id("a"), uuid(0), true), Change::changed);
    EXPECT_EQ(n.set_high_priority(id("a"), uuid(0), true), Change::unchanged);
    EXPECT_EQ(n.remove_instance(id("a")), Change::changed);
    EXPECT_EQ(reason_of(n.remove_instance(id("a"))), Reason::not_found);
    EXPECT_EQ(n.allocated(uuid(0)), Bytes());
}

TEST(NodeInstances, RefusalsAreWellFormed) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 16000, 20)})).has_value());
    expect_well_formed(n.add_instance(instance("b", {quota(0, 8000)})).error());
    expect_well_formed(n.set_weight(id("a"), uuid(0), 99).error());
    expect_well_formed(n.set_max_inst(uuid(0), 3).error());
    expect_well_formed(n.set_max_inst(uuid(9), 3).error());
    expect_well_formed(n.set_memory(id("a"), uuid(0), Bytes::from_gib(99), Bytes()).error());
    expect_well_formed(n.remove_instance(id("b")).error());
}

// Found as an administrator's command about a job that is named like a commit: it went to another user's,
// whose id was that.
TEST(NodeInstances, NobodyTakesAnotherUsersNameForAnId) {
    for (const std::string named : {"3f2a9c1b7d4e", "3f2a9c1b7d4e00112233445566778899"}) {
        model::Node n = v100();
        auto job = instance("bobs", {quota(0, 1024)});
        job.name = named;
        job.creator = 1001;
        ASSERT_TRUE(n.add_instance(job));
        auto taken = instance("3f2a9c1b7d4e00112233445566778899", {quota(0, 1024)});
        taken.name = "x";
        taken.creator = 1002;
        EXPECT_EQ(reason_of(n.add_instance(taken)), model::Refusal::Reason::exists) << named;
        taken.creator = 1001;
        EXPECT_TRUE(n.add_instance(taken)) << "one's own";
    }
}

}  // namespace
}  // namespace cgpu::model
