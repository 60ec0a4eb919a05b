#include "tests/unit/daemon/app/ends/ends_bed.hpp"

/// The ends of instances without work.
namespace cgpu::app::test {
namespace {

using model::Refusal;

class IdleTest : public EndsTest {
  protected:
    IdleTest() { usage.figures.target_share = 0.5; }
    void run_with(const std::string& idle, const std::string& time = "") {
        const auto created = ask(time, {{"CGPU_IDLE", idle}});
        ASSERT_TRUE(created) << created.error().text;
        ASSERT_TRUE(attach("aaaa", 200));
        begin_ = loop.now();
    }
    const model::IdleLimit& idle() { return *service->node().find_instance(id_)->idle; }
    std::string reason_of(EventType type) {
        return std::get<std::string>(recorded.of(type).back().details.at("reason"));
    }
};

TEST_F(IdleTest, without_work_for_so_long_it_is_ended) {
    run_with("30m");
    for (std::uint64_t second = 60; second <= 3600; second += 60) {
        ++usage.figures.launches;
        go_to(second);
    }
    EXPECT_TRUE(told().empty());
    go_to(3600 + 1799);
    EXPECT_EQ(told(), std::vector<std::string>{"ends-soon"});
    EXPECT_EQ(reason_of(EventType::ends_soon), "idle");
    go_to(3600 + 1800 + 91);
    ASSERT_EQ(told(), (std::vector<std::string>{"ends-soon", "time-over"}));
    EXPECT_EQ(reason_of(EventType::time_over), "idle");
    EXPECT_NE(recorded.of(EventType::time_over)[0].message.find(
                  "it had no work for 30m; its processes get SIGTERM now, and after 30s SIGKILL"),
              std::string::npos);
    EXPECT_EQ(processes.signalled, (Signalled{{200, Signal::term}}));
    EXPECT_EQ(service->node().find_instance(id_), nullptr) << "it obeys";
}

TEST_F(IdleTest, it_is_told_once_before_and_again_after_work) {
    run_with("1h");
    go_to(3000 - 1);
    EXPECT_TRUE(told().empty());
    go_to(3000 + 300);
    ASSERT_EQ(told(), std::vector<std::string>{"ends-soon"});
    const auto soon = recorded.of(EventType::ends_soon)[0];
    EXPECT_EQ(std::get<std::uint64_t>(soon.details.at("left")), 540U) << "by the look after 51 minutes";
    EXPECT_NE(soon.message.find("it had no work for 51m, and is ended in 9m if it goes on like this"),
              std::string::npos)
        << soon.message;
    ++usage.figures.launches;
    go_to(3000 + 3300);
    EXPECT_EQ(told().size(), 1U);
    go_to(3000 + 3300 + 480);
    EXPECT_EQ(told(), (std::vector<std::string>{"ends-soon", "ends-soon"}));
}

TEST_F(IdleTest, what_deafly_goes_on_is_killed_after_the_grace) {
    processes.deaf = {200};
    run_with("60s");
    go_to(61);
    ASSERT_EQ(told(), std::vector<std::string>{"time-over"});
    EXPECT_TRUE(idle().over());
    EXPECT_FALSE(idle().closed) << "it still computes";
    go_to(60 + 29);
    EXPECT_TRUE(processes.living.contains(200));
    go_to(60 + 32);
    EXPECT_FALSE(processes.living.contains(200));
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(IdleTest, whatever_shows_work_is_work) {
    run_with("10s");
    const std::vector<std::function<void()>> works = {
        [&] { ++usage.figures.gpu_time; },
        [&] { ++usage.figures.waited; },
        [&] { usage.figures.at_work = true; },
        [&] { usage.figures.compute_unexplained = 0.1; },
        [&] { usage.figures.processes_outside = {77}; },
        [&] { usage.figures.target_share.reset(); },
    };
    std::uint64_t second = 0;
    for (const auto& work : works) {
        for (int i = 0; i < 10; ++i) {
            work();
            go_to(second += 5);
        }
        EXPECT_TRUE(told().empty()) << second;
        usage.figures.at_work = false;
        usage.figures.compute_unexplained.reset();
        usage.figures.processes_outside.clear();
        usage.figures.target_share = 0.5;
    }
    go_to(second + 12);
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(IdleTest, a_paused_one_isnt_idle_and_begins_anew) {
    run_with("10s");
    go_to(8);
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id_, .paused = true}, {}));
    go_to(100);
    EXPECT_TRUE(told().empty());
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = id_, .paused = false}, {}));
    go_to(108);
    EXPECT_TRUE(told().empty());
    go_to(112);
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(IdleTest, extend_in_the_grace_calls_the_end_off_and_keeps_the_time_that_it_has) {
    processes.deaf = {200};
    run_with("60s", "1h");
    const Nanos ends = time().ends;
    go_to(65);
    ASSERT_TRUE(idle().over());
    EXPECT_FALSE(time().over);
    ASSERT_TRUE(extend(600));
    EXPECT_FALSE(idle().over());
    EXPECT_EQ(time().ends, ends + 600 * kSecond);
    const auto changed = recorded.of(EventType::setting_changed);
    ASSERT_EQ(changed.size(), 1U);
    EXPECT_NE(changed[0].message.find("it isn't ended, and may be without work for 1m again; its time is "
                                      "extended by 10m, to 1h10m in all"),
              std::string::npos)
        << changed[0].message;
    go_to(65 + 55);
    EXPECT_EQ(told().size(), 1U);
    go_to(65 + 65);
    EXPECT_EQ(told().size(), 2U);
}

TEST_F(IdleTest, extend_gives_no_time_limit_to_who_has_none) {
    processes.deaf = {200};
    run_with("60s");
    go_to(50);
    ASSERT_TRUE(extend(600, {.dry_run = true}));
    ASSERT_TRUE(extend(600)) << "before its end it begins anew";
    EXPECT_TRUE(recorded.of(EventType::setting_changed).empty());
    go_to(105);
    EXPECT_TRUE(told().empty());
    go_to(112);
    ASSERT_EQ(told().size(), 1U);
    ASSERT_TRUE(extend(600));
    EXPECT_FALSE(service->node().find_instance(id_)->time);
    EXPECT_FALSE(idle().over());
    const auto changed = recorded.of(EventType::setting_changed);
    ASSERT_EQ(changed.size(), 1U);
    EXPECT_EQ(std::get<std::string>(changed[0].details.at("setting")), "idle");
    EXPECT_EQ(std::get<std::string>(changed[0].details.at("after")), "1m");
}

TEST_F(IdleTest, a_dry_run_lets_nothing_begin_anew) {
    run_with("60s");
    go_to(50);
    ASSERT_TRUE(extend(600, {.dry_run = true}));
    go_to(62);
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(IdleTest, where_cgpud_may_not_signal_the_gate_closes) {
    processes.may_signal = false;
    run_with("60s");
    go_to(61);
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(std::get<std::string>(recorded.of(EventType::time_over)[0].details.at("end")), "gate");
    go_to(61 + 31);
    ASSERT_TRUE(idle().closed);
    EXPECT_TRUE(model::computes_nothing(*service->node().find_instance(id_),
                                        service->node().find_instance(id_)->quotas[0]));
    const auto resumed = service->changes().make(QuotaChange{.instance = id_, .paused = false}, {});
    ASSERT_FALSE(resumed);
    EXPECT_NE(resumed.error().text.find("it was without work for too long. Try: cgpuctl extend aaaa 1h"),
              std::string::npos)
        << resumed.error().text;
    go_to(3600);
    EXPECT_EQ(told().size(), 1U) << "it isn't ended twice";
    ASSERT_TRUE(extend(60));
    EXPECT_FALSE(idle().closed);
}

TEST_F(IdleTest, a_restarted_cgpud_begins_anew_and_goes_on_with_an_end) {
    processes.deaf = {200};
    run_with("60s");
    go_to(50);
    wall_clock += 7 * 86400;
    start(store.saved);
    service->adopt();
    go_to(50 + 58);
    EXPECT_TRUE(told().empty());
    go_to(50 + 62);
    EXPECT_EQ(told().size(), 1U);
    start(store.saved);
    service->adopt();
    go_to(50 + 62 + 31);
    EXPECT_FALSE(processes.living.contains(200));
    EXPECT_EQ(told().size(), 1U);
}

TEST_F(IdleTest, a_full_disk_puts_it_off) {
    run_with("60s");
    store.full = true;
    go_to(80);
    EXPECT_TRUE(processes.signalled.empty());
    store.full = false;
    go_to(83);
    EXPECT_FALSE(processes.signalled.empty());
}

TEST_F(IdleTest, nobody_counts_on_it) {
    run_with("60s");
    EXPECT_TRUE(service->ends().known().empty());
    processes.deaf = {200};
    go_to(61);
    EXPECT_TRUE(service->ends().known().empty());
}

TEST_F(IdleTest, who_has_ended_so_is_refused_until_it_is_extended) {
    run_with("60s", "2h");
    go_to(61);
    ASSERT_EQ(service->node().find_instance(id_), nullptr);
    for (int starts = 0; starts < 2; ++starts) {
        const auto again = ask("2h", {{"CGPU_IDLE", "60s"}});
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().reason, Refusal::Reason::not_permitted);
        EXPECT_NE(again.error().text.find("it was ended after 1m without work. Try: cgpuctl extend aaaa 1h"),
                  std::string::npos)
            << again.error().text;
        start(store.saved);
        service->adopt();
    }
    ASSERT_TRUE(extend(600));
    ASSERT_TRUE(ask("2h", {{"CGPU_IDLE", "60s"}}));
    EXPECT_EQ(time().seconds, 600U);
    EXPECT_EQ(idle().seconds, 60U);
}

TEST_F(IdleTest, the_owners_rule_and_the_configuration_bound_it) {
    people.known = {{1000, "alice", {{1000, "alice"}}}};
    cgpu::limits::Rules rules;
    rules.users["alice"].idle = 600;
    limits.set_rules(rules);
    Settings settings;
    settings.settings_for = [this](const model::SeenGpu&) { return of_gpus; };
    settings.idle = 300;
    service->set_settings(settings);
    caller.user = processes.users[100] = processes.users[200] = 1000;
    const auto refused = ask("", {{"CGPU_IDLE", "11m"}});
    ASSERT_FALSE(refused);
    EXPECT_NE(
        refused.error().text.find("11m without work is asked for, and alice may have 10m without work for "
                                  "each instance (limits.users.alice.idle). Try: ask for 10m or less"),
        std::string::npos)
        << refused.error().text;
    ASSERT_FALSE(ask("", {{"CGPU_IDLE", "11m"}, {"CGPU_WAIT", "1h"}})) << "it doesn't wait for that";
    ASSERT_TRUE(ask(""));
    EXPECT_EQ(idle().seconds, 300U) << "the configuration's, which is shorter";
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    settings.idle = 900;
    service->set_settings(settings);
    ASSERT_TRUE(ask(""));
    EXPECT_EQ(idle().seconds, 600U);
    ASSERT_TRUE(service->release_instance("aaaa", caller, {}));
    ASSERT_TRUE(ask("", {{"CGPU_IDLE", "10m"}}));
}

}  // namespace
}  // namespace cgpu::app::test
