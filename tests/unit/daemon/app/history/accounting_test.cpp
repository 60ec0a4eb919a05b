// What may be billed beside GPU time, and the sums of days.
#include "tests/unit/daemon/app/history/history_bed.hpp"

namespace cgpu::app::test {
namespace {

TEST_F(HistoryTest, a_long_time_without_work_has_a_record_of_each_day) {
    add("aaaa");
    wall_us_ = kDayUs - 30 * kMinuteUs;
    History late(outside(), 60 * kSecond);
    late.update(service->node());
    for (int look = 0; look < 360; ++look) {
        pass(10 * kSecond);
        late.tick();
    }
    std::uint64_t of_first_day = 0;
    for (const auto& record : kept_.all) {
        EXPECT_TRUE(record.end_us() <= kDayUs + kMinuteUs || record.begin_us >= kDayUs) << record.begin_us;
        if (record.begin_us < kDayUs) of_first_day += record.memory_granted;
    }
    ASSERT_EQ(days_.all.size(), 2U);
    EXPECT_EQ(days_.all[0].memory_granted, of_first_day);
    EXPECT_GT(days_.all[1].memory_granted, 0U);
}

TEST_F(HistoryTest, memory_is_summed_over_the_time_with_each_limit) {
    const auto id = add("aaaa");
    history_.tick();
    const auto limit = service->node().find_instance(id)->quotas.front().memory_limit.count();
    of(id).memory_time = 500;
    pass(10 * kSecond);
    auto node = service->node();
    ASSERT_TRUE(node.set_memory(id, v100, model::Bytes(limit / 2), {}));
    history_.update(node);
    pass(20 * kSecond);
    of(id).memory_time = 700;
    history_.finish();
    // Nothing was launched, so the record comes with the end of cgpud.
    ASSERT_EQ(kept_.all.size(), 1U);
    EXPECT_EQ(kept_.all[0].memory_used, 700U);
    EXPECT_EQ(kept_.all[0].memory_granted,
              history::mib_ms(limit, 10'000'000) + history::mib_ms(limit / 2, 20'000'000));
    EXPECT_EQ(kept_.all[0].present_us, 30'000'000U);
    EXPECT_EQ(kept_.all[0].instances, (history::InstanceCount{1, 1}));
}

TEST_F(HistoryTest, an_interval_is_of_the_name_at_its_end) {
    const auto id = add("aaaa");
    std::vector<std::string> names;
    auto node = service->node();
    for (const auto* name : {"first", "second", "third"}) {
        pass(20 * kSecond);
        ASSERT_TRUE(node.rename(id, name));
        history_.update(node);
    }
    ++of(id).launches;
    pass_with_looks(60 * kSecond);
    ASSERT_TRUE(node.rename(id, "last"));
    history_.update(node);
    pass(10 * kSecond);
    ++of(id).launches;
    history_.finish();
    for (const auto& record : kept_.all)
        if (names.empty() || names.back() != record.name) names.push_back(record.name);
    EXPECT_EQ(names, (std::vector<std::string>{"third", "last"})) << "however often it is renamed";
}

TEST_F(HistoryTest, a_start_counts_once_and_not_for_what_a_former_cgpud_admitted) {
    const auto id = add("aaaa");
    for (int minute = 0; minute < 3; ++minute) {
        ++of(id).launches;
        pass_with_looks(60 * kSecond);
    }
    History later(outside(), 60 * kSecond);
    later.update(service->node());
    ++of(id).launches;
    later.finish();
    std::vector<std::uint32_t> began;
    for (const auto& record : kept_.all) began.push_back(record.instances.began);
    EXPECT_EQ(began, (std::vector<std::uint32_t>{1, 0, 0, 0, 0}));
}

// A clock that is set back, as it is when a machine has found its time server, made starts vanish until it
// was as late as at cgpud's start again.
TEST_F(HistoryTest, a_start_counts_after_the_clock_was_set_back) {
    wall_us_ -= 60 * kMinuteUs;
    ++of(add("aaaa")).launches;
    history_.finish();
    ASSERT_EQ(kept_.all.size(), 1U);
    EXPECT_EQ(kept_.all[0].instances, (history::InstanceCount{1, 1}));
}

TEST_F(HistoryTest, what_is_taken_up_from_its_record_has_not_started_now) {
    const auto id = add("aaaa");
    processes.living.insert(200);
    ASSERT_TRUE(attach("aaaa", 200));
    History later(outside(), 60 * kSecond);
    later.update(model::Node{});
    later.update(service->node());
    ++of(id).launches;
    later.finish();
    ASSERT_EQ(kept_.all.size(), 1U);
    EXPECT_EQ(kept_.all[0].instances, (history::InstanceCount{1, 0}));
}

TEST_F(HistoryTest, refused_requests_are_counted_by_owner_and_name) {
    history_.tick();
    history_.refused("web", {1000, {}});
    history_.refused("web", {1000, {}});
    history_.refused("web", {1001, {}});
    for (int each = 0; each < 200; ++each) history_.refused("n" + std::to_string(each), {1000, {}});
    pass_with_looks(60 * kSecond);
    std::uint32_t all = 0;
    for (const auto& record : kept_.all) {
        EXPECT_EQ(record.gpu, model::Uuid());
        if (record.name == "web") {
            EXPECT_EQ(record.refused_starts, record.owner.user == 1000U ? 2U : 1U);
        }
        all += record.refused_starts;
    }
    EXPECT_EQ(all, 203U);
    EXPECT_LE(kept_.all.size(), History::kMostShortOfAUser + 2U);
}

TEST_F(HistoryTest, the_sums_of_a_day_are_written_with_each_record_and_taken_up_by_the_next_cgpud) {
    const auto id = add("aaaa");
    for (int minute = 0; minute < 3; ++minute) {
        of(id).gpu_time += 5;
        pass_with_looks(60 * kSecond);
    }
    EXPECT_GE(days_.writes, 3);
    ASSERT_EQ(days_.all.size(), 1U) << "it is always the same one";
    auto sum = days_.all[0];
    EXPECT_EQ(sum.reported_ns, 15U);
    EXPECT_EQ(sum.instances, (history::InstanceCount{1, 1}));
    days_.found = {sum};
    kept_.found = kept_.all;
    usage_.of[id].gpu_time = 0;
    History later(outside(), 60 * kSecond);
    later.update(service->node());
    of(id).gpu_time += 7;
    later.finish();
    ASSERT_EQ(days_.all.size(), 1U);
    sum = days_.all[0];
    EXPECT_EQ(sum.reported_ns, 22U);
    EXPECT_EQ(sum.instances, (history::InstanceCount{1, 1})) << "it is the same instance";
    pass(86'400 * kSecond);
    of(id).gpu_time += 1;
    History next_day(outside(), 60 * kSecond);
    next_day.update(service->node());
    ++of(id).launches;
    next_day.finish();
    ASSERT_EQ(days_.all.size(), 2U);
    EXPECT_EQ(days_.all[1].instances, (history::InstanceCount{1, 0}));
}

}  // namespace
}  // namespace cgpu::app::test
