#include "tests/unit/daemon/app/history/history_bed.hpp"

namespace cgpu::app::test {
namespace {

TEST_F(HistoryTest, makes_a_record_for_each_interval_in_which_something_was_done) {
    const auto id = add("aaaa");
    history_.tick();
    pass(20 * kSecond);
    history_.tick();
    EXPECT_TRUE(kept_.all.empty());
    for (int minute = 0; minute < 3; ++minute) {
        of(id).gpu_time += 30'000'000'000;
        of(id).granted += 31'000'000'000;
        of(id).due += 29'000'000'000;
        of(id).launches += 7;
        pass_with_looks(minute == 0 ? 40 * kSecond : 60 * kSecond);
    }
    ASSERT_EQ(kept_.all.size(), 3U);
    for (std::uint64_t minute = 0; minute < 3; ++minute) {
        const auto& record = kept_.all[minute];
        EXPECT_EQ(record.begin_us, (1000 + minute) * kMinuteUs);
        EXPECT_EQ(record.duration_us, kMinuteUs);
        EXPECT_EQ(record.instance, "aaaa");
        EXPECT_EQ(record.gpu, v100);
        EXPECT_EQ(record.reported_ns, 30'000'000'000U);
        EXPECT_EQ(record.granted_ns, 31'000'000'000U);
        EXPECT_EQ(record.due_ns, 29'000'000'000U);
        EXPECT_EQ(record.launches, 7U);
        EXPECT_GT(record.memory_limit, 0U);
        EXPECT_TRUE(record.measured);
        EXPECT_FALSE(record.ended);
    }
}

TEST_F(HistoryTest, makes_one_record_of_a_long_time_without_work) {
    const auto id = add("aaaa");
    history_.tick();
    pass_with_looks(600 * kSecond);
    ASSERT_EQ(kept_.all.size(), 1U) << "cgpud may be killed: all but the last interval is in the store";
    EXPECT_EQ(kept_.all[0].duration_us, 10 * kMinuteUs);
    EXPECT_EQ(kept_.all[0].instances, (history::InstanceCount{1, 1}));
    EXPECT_EQ(kept_.all[0].memory_granted, history::mib_ms(kept_.all[0].memory_limit, 10 * kMinuteUs));
    // A peak of the idle time stays with it.
    usage_.peaks[id] = 77;
    pass_with_looks(60 * kSecond);
    of(id).gpu_time = 5;
    pass_with_looks(60 * kSecond);
    ASSERT_EQ(kept_.all.size(), 2U);
    EXPECT_EQ(kept_.all[0].duration_us, 11 * kMinuteUs);
    EXPECT_EQ(kept_.all[0].reported_ns, 0U);
    EXPECT_EQ(kept_.all[0].memory_peak, 77U);
    EXPECT_EQ(kept_.all[1].begin_us, kept_.all[0].end_us());
    EXPECT_EQ(kept_.all[1].duration_us, kMinuteUs);
    EXPECT_EQ(kept_.all[1].reported_ns, 5U);
    EXPECT_EQ(kept_.all[1].memory_peak, 0U);
    pass_with_looks(3700 * kSecond);
    ASSERT_EQ(kept_.all.size(), 4U);
    EXPECT_EQ(kept_.all[2].duration_us, 60 * kMinuteUs);
    ASSERT_EQ(days_.all.size(), 1U);
    EXPECT_EQ(days_.all[0].end_us(), kept_.all[3].end_us());
}

TEST_F(HistoryTest, a_record_has_the_index_that_its_gpu_had_then) {
    const auto id = add("aaaa");
    history_.tick();
    of(id).gpu_time = 1;
    pass_with_looks(60 * kSecond);
    model::SeenGpu moved = *service->node().find_gpu(v100);
    moved.index = 3;
    service->gpus_seen({{moved}, {}, {}});
    update();  // the instance itself is the same
    of(id).gpu_time = 2;
    pass_with_looks(60 * kSecond);
    ASSERT_EQ(kept_.all.size(), 2U);
    EXPECT_EQ(kept_.all[0].gpu_index, 0U);
    EXPECT_EQ(kept_.all[1].gpu_index, 3U);
    moved.index = 0;
    service->gpus_seen({{moved}, {}, {}});
    pass(10 * kSecond);
    of(id).gpu_time = 3;
    EXPECT_TRUE(service->release_instance("aaaa", caller, {}));
    update();
    EXPECT_EQ(kept_.all.back().gpu_index, 3U) << "it had ended before the other index was told";
}

TEST_F(HistoryTest, the_last_record_is_made_before_the_figures_are_forgotten) {
    const auto id = add("aaaa");
    history_.tick();
    pass(13 * kSecond);
    of(id).gpu_time = 9'000'000'000;
    of(id).allocations_refused = 2;
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    update();
    EXPECT_FALSE(usage_.of.contains(id));
    ASSERT_EQ(kept_.all.size(), 1U);
    EXPECT_TRUE(kept_.all[0].ended);
    EXPECT_EQ(kept_.all[0].duration_us, 13'000'000U);
    EXPECT_EQ(kept_.all[0].reported_ns, 9'000'000'000U);
    EXPECT_EQ(kept_.all[0].refused, 2U);
    pass_with_looks(120 * kSecond);
    EXPECT_EQ(kept_.all.size(), 1U);
}

TEST_F(HistoryTest, what_used_nothing_is_summed_up_by_its_name) {
    history_.tick();
    for (int each = 0; each < 1000; ++each) {
        add("aaaa");
        pass(kSecond / 10);
        ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
        update();
    }
    EXPECT_TRUE(kept_.all.empty()) << kept_.all.size();
    pass_with_looks(20 * kSecond);
    ASSERT_EQ(kept_.all.size(), 1U);
    EXPECT_EQ(kept_.all[0].instances, (history::InstanceCount{1000, 1000}));
    EXPECT_EQ(kept_.all[0].name, "job-aaaa");
    EXPECT_EQ(kept_.all[0].memory_granted, history::mib_ms(kept_.all[0].memory_limit, 100'000'000));
    kept_.all.clear();
    // Memory alone is something, and so is a refusal.
    for (const bool memory : {true, false}) {
        const auto id = add("aaaa");
        (memory ? usage_.peaks[id] : of(id).allocations_refused) = 3;
        ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
        update();
    }
    EXPECT_EQ(kept_.all.size(), 2U);
    kept_.all.clear();
    // Names are bounded, too.
    for (int each = 0; each < 200; ++each) {
        const auto name = "id-" + std::to_string(each);
        add(name.c_str());
        ASSERT_TRUE(service->release_instance(name, caller, {}));
        update();
    }
    pass_with_looks(60 * kSecond);
    EXPECT_EQ(kept_.all.size(), History::kMostShortOfAUser + 1U);
}

TEST_F(HistoryTest, what_stays_and_uses_nothing_has_a_record_an_hour) {
    caller.user = processes.users[100] = 1000;
    add("aaaa");
    history_.tick();
    pass_with_looks(3700 * kSecond);
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    update();
    ASSERT_EQ(kept_.all.size(), 2U);
    EXPECT_EQ(kept_.all[0].owner.user, caller.user);
    EXPECT_TRUE(kept_.all[1].ended);
}

TEST_F(HistoryTest, many_short_instances_of_a_user_are_summed_up) {
    constexpr int kOfUser = 1000;
    const auto work_as = [this](std::uint32_t user, int times) {
        caller.user = user;
        processes.users[100] = user;
        for (int each = 0; each < times; ++each) {
            const std::string name = "id-" + std::to_string(user) + "-" + std::to_string(each);
            const auto id = add(name.c_str());
            pass(kSecond / 100);
            of(id).gpu_time = 3;
            of(id).granted = each % 2 == 0 ? 4 : 2;
            of(id).launches = 1;
            ASSERT_TRUE(service->release_instance(name, caller, {}));
            update();
        }
    };
    history_.tick();
    work_as(1000, kOfUser);
    work_as(1001, 2);
    work_as(0, 200);
    pass_with_looks(60 * kSecond);
    const auto of_owner = [this](std::optional<std::uint32_t> owner) {
        std::vector<history::Record> all;
        for (const auto& record : kept_.all)
            if (record.owner.user == owner) all.push_back(record);
        return all;
    };
    EXPECT_EQ(of_owner(1001).size(), 2U) << "each user has an own number";
    EXPECT_EQ(of_owner(std::nullopt).size(), 200U) << "of containers of an engine of root's";
    const auto records = of_owner(1000);
    ASSERT_EQ(records.size(), History::kMostShortOfAUser + 1U);
    EXPECT_EQ(records.back().name, History::kOtherShort);
    std::uint64_t billed = 0;
    std::uint64_t launches = 0;
    for (const auto& record : records) {
        billed += record.gpu_ns();
        launches += record.launches;
    }
    EXPECT_EQ(billed, kOfUser / 2 * 4U + kOfUser / 2 * 3U) << "no GPU time is lost";
    EXPECT_EQ(launches, 1U * kOfUser);
    EXPECT_LE(records.back().end_us(), 1001 * kMinuteUs);
    work_as(1000, 3);
    EXPECT_EQ(of_owner(1000).size(), records.size() + 3) << "the next interval has its own";
}

TEST_F(HistoryTest, another_instance_of_the_same_id_begins_anew) {
    auto id = add("aaaa");
    history_.tick();
    of(id).gpu_time = 9;
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    // Both changes at once, as a fast engine makes them.
    ASSERT_TRUE(create("aaaa", "4"));
    update();
    usage_.of[id] = {};
    pass(5 * kSecond);
    of(id).gpu_time = 4;
    history_.finish();
    ASSERT_EQ(kept_.all.size(), 2U);
    EXPECT_EQ(kept_.all[0].reported_ns, 9U);
    EXPECT_TRUE(kept_.all[0].ended);
    EXPECT_EQ(kept_.all[1].reported_ns, 4U);
}

TEST_F(HistoryTest, nothing_is_lost_or_counted_twice_at_the_end_of_cgpud) {
    const auto id = add("aaaa");
    history_.tick();
    of(id).gpu_time = 10;
    pass_with_looks(60 * kSecond);
    of(id).gpu_time = 14;
    pass(3 * kSecond);
    history_.finish();
    ASSERT_EQ(kept_.all.size(), 2U);
    EXPECT_EQ(kept_.all[0].reported_ns + kept_.all[1].reported_ns, 14U);
    EXPECT_EQ(kept_.syncs, 1);
    // The idle time until then has a record, too.
    pass_with_looks(120 * kSecond);
    history_.finish();
    ASSERT_EQ(kept_.all.size(), 3U);
    EXPECT_EQ(kept_.all[2].duration_us, 2 * kMinuteUs);
}

TEST_F(HistoryTest, a_clock_that_is_set_changes_no_duration) {
    const auto id = add("aaaa");
    history_.tick();
    of(id).gpu_time = 1;
    pass(20 * kSecond);
    wall_us_ += 3000 * kMinuteUs;
    pass_with_looks(40 * kSecond);
    of(id).gpu_time = 2;
    pass_with_looks(60 * kSecond);
    ASSERT_GE(kept_.all.size(), 2U);
    std::uint64_t sum = 0;
    for (const auto& record : kept_.all) sum += record.duration_us;
    EXPECT_EQ(sum, 2 * kMinuteUs);
    EXPECT_GT(kept_.all[0].begin_us, 3999 * kMinuteUs);
}

TEST_F(HistoryTest, short_intervals_have_a_timer_of_their_own) {
    History quick(outside(), 2 * kSecond);
    const auto id = add("aaaa");
    quick.update(service->node());
    quick.tick();
    for (int i = 0; i < 5; ++i) {
        ++of(id).launches;
        wall_us_ += 2'000'000;
        loop.advance(2 * kSecond);
    }
    EXPECT_EQ(kept_.all.size(), 5U);
}

}  // namespace
}  // namespace cgpu::app::test
