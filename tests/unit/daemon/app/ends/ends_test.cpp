#include "tests/unit/daemon/app/ends/ends_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

TEST_F(EndsTest, it_is_told_before_asked_to_end_and_killed_after_the_grace) {
    processes.deaf = {200};
    run("1h");
    EXPECT_EQ(time().seconds, kHour);
    go_to(kHour - 601);
    EXPECT_TRUE(told().empty());
    go_to(kHour - 600);
    EXPECT_EQ(told(), std::vector<std::string>{"ends-soon"});
    EXPECT_EQ(std::get<std::uint64_t>(recorded.of(EventType::ends_soon)[0].details.at("left")), 600U);
    go_to(kHour - 1);
    EXPECT_TRUE(processes.signalled.empty());
    go_to(kHour);
    EXPECT_EQ(told(), (std::vector<std::string>{"ends-soon", "time-over"}));
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}}));
    EXPECT_FALSE(time().closed) << "it still computes";
    go_to(kHour + 29);
    EXPECT_EQ(processes.signalled.size(), 1U);
    go_to(kHour + 31);
    EXPECT_EQ(service->node().find_instance(id_), nullptr);
    EXPECT_EQ(told().size(), 2U);
}

TEST_F(EndsTest, there_is_one_timer_for_all) {
    run("1h");
    for (const char* id : {"bbbb", "cccc"})
        ASSERT_TRUE(
            service->create_instance({id, id, {{"CGPU_MEM", "1GiB"}, {"CGPU_TIME", "2h"}}, caller, {}}));
    EXPECT_EQ(service->ends().known().size(), 3U);
    go_to(kHour + 40);
    EXPECT_EQ(service->node().instances().size(), 2U);
}

TEST_F(EndsTest, where_cgpud_may_not_signal_the_gate_closes) {
    processes.may_signal = false;
    run("1h");
    EXPECT_TRUE(service->ends().known().empty()) << "nobody knows when it ends";
    go_to(kHour);
    const auto over = recorded.of(EventType::time_over);
    ASSERT_EQ(over.size(), 1U);
    EXPECT_EQ(std::get<std::string>(over[0].details.at("end")), "gate");
    EXPECT_NE(over[0].message.find("cgpud may not signal its processes (kill.conf"), std::string::npos);
    EXPECT_FALSE(time().closed);
    go_to(kHour + 30);
    EXPECT_TRUE(time().closed);
    EXPECT_TRUE(processes.signalled.empty());
    EXPECT_TRUE(model::computes_nothing(*service->node().find_instance(id_),
                                        service->node().find_instance(id_)->quotas[0]));
    const auto resumed = service->changes().make(QuotaChange{.instance = id_, .paused = false}, {});
    ASSERT_FALSE(resumed);
    EXPECT_NE(resumed.error().text.find("its time is over. Try: cgpuctl extend aaaa 1h"), std::string::npos)
        << resumed.error().text;
    ASSERT_TRUE(extend(60));
    EXPECT_FALSE(time().closed);
    EXPECT_EQ(time().ends, loop.now() + 60 * kSecond);
    EXPECT_EQ(time().seconds, kHour + 60);
}

TEST_F(EndsTest, an_extension_in_the_grace_calls_the_end_off) {
    processes.deaf = {200};
    run("1h");
    go_to(kHour + 20);
    ASSERT_TRUE(extend(1200, {.by = Who{1000, 7}}));
    const auto changed = recorded.of(EventType::setting_changed);
    ASSERT_EQ(changed.size(), 1U);
    EXPECT_EQ(std::get<std::string>(changed[0].details.at("setting")), "time");
    EXPECT_EQ(std::get<std::string>(changed[0].details.at("before")), "1h");
    EXPECT_EQ(std::get<std::string>(changed[0].details.at("after")), "1h20m");
    go_to(kHour + 1219);
    EXPECT_TRUE(processes.living.contains(200));
    EXPECT_EQ(told(), (std::vector<std::string>{"ends-soon", "time-over", "ends-soon"}));
    go_to(kHour + 1220 + 31);
    EXPECT_FALSE(processes.living.contains(200));
}

TEST_F(EndsTest, a_restarted_cgpud_goes_on_whatever_the_clock_shows) {
    processes.deaf = {200};
    run("1h");
    go_to(kHour - 100);
    wall_clock += 7 * 86400;
    start(store.saved);
    service->adopt();
    go_to(kHour - 1);
    EXPECT_TRUE(processes.signalled.empty());
    go_to(kHour + 5);
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}}));
    start(store.saved);
    service->adopt();
    go_to(kHour + 31);
    EXPECT_FALSE(processes.living.contains(200));
}

TEST_F(EndsTest, what_a_cgpud_didnt_signal_any_more_the_next_one_does) {
    processes.may_signal = false;
    run("1h");
    go_to(kHour + 31);
    ASSERT_TRUE(time().closed);
    EXPECT_TRUE(processes.signalled.empty());
    processes.may_signal = true;
    start(store.saved);
    service->adopt();
    loop.advance(1);
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::kill}}));
}

TEST_F(EndsTest, a_full_disk_puts_it_off) {
    run("1h");
    store.full = true;
    go_to(kHour + 10);
    EXPECT_TRUE(processes.signalled.empty());
    store.full = false;
    go_to(kHour + 12);
    EXPECT_FALSE(processes.signalled.empty());
}

TEST_F(EndsTest, who_has_ended_so_is_refused_until_it_is_extended) {
    run("1h");
    go_to(kHour + 1);
    ASSERT_EQ(service->node().find_instance(id_), nullptr) << "it obeys";
    ASSERT_EQ(service->node().spent().size(), 1U);
    const auto again = ask("1h");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, Refusal::Reason::not_permitted);
    EXPECT_NE(again.error().text.find("its time of 1h is over. Try: cgpuctl extend aaaa 1h"),
              std::string::npos)
        << again.error().text;
    start(store.saved);
    service->adopt();
    EXPECT_FALSE(ask("1h")) << "after a restart of cgpud";
    EXPECT_EQ(*service->find_timed("train", {0, true}), id_);
    ASSERT_TRUE(extend(600));
    ASSERT_TRUE(extend(60));
    const auto granted = ask("2h");
    ASSERT_TRUE(granted) << granted.error().text;
    EXPECT_EQ(time().seconds, 660U) << "what was granted, whatever it asks for";
    EXPECT_TRUE(service->node().spent().empty());
}

TEST_F(EndsTest, what_ends_by_itself_may_be_started_again) {
    run("1h");
    go_to(kHour - 10);
    processes.kill(200);
    ASSERT_EQ(service->node().find_instance(id_), nullptr);
    EXPECT_TRUE(ask("1h"));
}

TEST_F(EndsTest, the_configurations_time_is_that_of_who_asks_for_none) {
    Settings settings;
    settings.settings_for = [this](const model::SeenGpu&) { return of_gpus; };
    settings.time = 7200;
    settings.ends = {60 * kSecond, 5 * kSecond};
    service->set_settings(settings);
    run("");
    EXPECT_EQ(time().seconds, 7200U);
    go_to(7200 - 61);
    EXPECT_TRUE(told().empty());
    go_to(7200 - 60);
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(EndsTest, without_a_limit_nothing_can_be_extended) {
    run("");
    EXPECT_FALSE(service->node().find_instance(id_)->time);
    EXPECT_EQ(extend(60).error().reason, Refusal::Reason::invalid);
    EXPECT_EQ(service->extend(*model::InstanceId::parse("bbbb"), 60, {}).error().reason,
              Refusal::Reason::not_found);
    EXPECT_EQ(service->find_timed("web", {0, true}).error().reason, Refusal::Reason::not_found);
}

TEST_F(EndsTest, the_owners_rule_bounds_what_is_asked_and_what_is_added) {
    people.known = {{1000, "alice", {{1000, "alice"}, {2000, "students"}}}};
    cgpu::limits::Rules rules;
    rules.groups["students"].time = 2 * kHour;
    limits.set_rules(rules);
    caller.user = processes.users[100] = processes.users[200] = 1000;
    const auto refused = ask("3h");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find(
                  "3h is asked for, and alice may have 2h for each instance (limits.groups.students.time). "
                  "Try: ask for 2h or less"),
              std::string::npos)
        << refused.error().text;
    run("");
    EXPECT_EQ(time().seconds, 2 * kHour) << "the longest, if none is asked for";
    const Options own{.only_lowered_of = 1000};
    const auto more = extend(60, own);
    ASSERT_FALSE(more);
    EXPECT_NE(more.error().text.find("limits.groups.students.time"), std::string::npos) << more.error().text;
    EXPECT_EQ(extend(60, {.only_lowered_of = 1001}).error().reason, Refusal::Reason::not_permitted);
    EXPECT_TRUE(extend(60)) << "who may manage all isn't bound by it";
    EXPECT_TRUE(extend(60, {.dry_run = true}));
    EXPECT_EQ(time().seconds, 2 * kHour + 60);
}

}  // namespace
}  // namespace cgpu::app::test
