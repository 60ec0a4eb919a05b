#include "daemon/bus/authority/authority.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/bus/authority/mock_polkit.hpp"
#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::bus::test {
namespace {

using cgpu::test::MockPolkit;
using Mood = MockPolkit::Mood;

class AuthorityTest : public testing::Test {
  protected:
    /// The answer; empty: none within the call.
    using Answer = std::optional<app::Result<void>>;

    void ask(Answer& answer, const compat::Caller& caller, Action action = Action::manage_policy) {
        authority_.ask(action, caller, [&answer](const app::Result<void>& said) { answer = said; });
    }
    /// Runs the loop, as the daemon does, until the condition is true.
    template <class Condition>
    void run_until(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition() && std::chrono::steady_clock::now() < end) {
            if (compat::process_one(*connection_)) continue;
            const auto wanted = connection_->getEventLoopPollData();
            pollfd file{wanted.fd, wanted.events, 0};
            poll(&file, 1, 10);
        }
        ASSERT_TRUE(condition());
    }
    app::Result<void> answer_to(const compat::Caller& caller, Action action = Action::manage_policy) {
        Answer answer;
        ask(answer, caller, action);
        run_until([&] { return answer.has_value(); });
        return answer.value_or(app::Result<void>());
    }
    static void expect_refused(const app::Result<void>& answer, const std::string& part) {
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().reason, model::Refusal::Reason::not_permitted);
        EXPECT_NE(answer.error().text.find(part), std::string::npos) << answer.error().text;
        EXPECT_NE(answer.error().text.find(". Try: do the same as root (sudo)"), std::string::npos)
            << answer.error().text;
    }

    cgpu::test::PrivateBus bus_;
    std::unique_ptr<sdbus::IConnection> connection_ = sdbus::createSystemBusConnection();
    /// Callers that are still there, because they have the connection of the test itself.
    const std::string name_ = connection_->getUniqueName();
    const compat::Caller kUser{1000, name_, false};
    const compat::Caller kAtTerminal{1000, name_, true};
    Callers callers_;
    Authority authority_{
        *connection_, callers_, {std::chrono::milliseconds(200), std::chrono::milliseconds(200)}};
};

TEST_F(AuthorityTest, RootMayAndNobodyIsAsked) {
    MockPolkit polkit(Mood::no);
    Answer answer;
    ask(answer, {0, ":1.1", false});
    ASSERT_TRUE(answer) << "within the call";
    EXPECT_TRUE(*answer);
    EXPECT_TRUE(polkit.questions().empty());
}

TEST_F(AuthorityTest, PolkitIsAskedAboutTheConnectionAndTheAction) {
    MockPolkit polkit(Mood::yes);
    EXPECT_TRUE(answer_to(kUser, Action::manage_instance));
    EXPECT_TRUE(answer_to(kAtTerminal, Action::upgrade_module));
    const auto asked = polkit.questions();
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0], (MockPolkit::Question{"system-bus-name", name_, "org.cgpu1.manage-instance", false,
                                              asked[0].id}));
    EXPECT_EQ(asked[1], (MockPolkit::Question{"system-bus-name", name_, "org.cgpu1.upgrade-module", true,
                                              asked[1].id}));
    EXPECT_NE(asked[0].id, asked[1].id);
}

TEST_F(AuthorityTest, ForSeveralActionsPolkitIsAskedUntilItRefusesOne) {
    MockPolkit polkit(Mood::yes);
    const auto answer_to_all = [&](std::vector<Action> actions) {
        Answer answer;
        authority_.ask_for_all(std::move(actions), kUser,
                               [&answer](const app::Result<void>& said) { answer = said; });
        run_until([&] { return answer.has_value(); });
        return answer.value_or(app::Result<void>());
    };
    EXPECT_TRUE(answer_to_all({}));
    EXPECT_TRUE(polkit.questions().empty());
    EXPECT_TRUE(answer_to_all({Action::manage_policy, Action::manage_instance}));
    ASSERT_EQ(polkit.questions().size(), 2U);
    EXPECT_EQ(polkit.questions()[0].action, "org.cgpu1.manage-policy");
    EXPECT_EQ(polkit.questions()[1].action, "org.cgpu1.manage-instance");
    polkit.set_mood(Mood::no);
    expect_refused(
        answer_to_all({Action::manage_instance, Action::manage_policy}),
        "changing an instance: user id 1000 may not: polkit doesn't allow org.cgpu1.manage-instance");
    EXPECT_EQ(polkit.questions().size(), 3U);
}

TEST(Actions, EachKindOfChangeNeedsItsOwn) {
    const std::vector<app::NodeChange> gpus = {app::GpuChange{}};
    model::Node node = cgpu::test::v100();
    auto made = cgpu::test::instance("aaaa", {cgpu::test::quota(0, 1024, 2)});
    made.owner.user = 1000;
    ASSERT_TRUE(node.add_instance(made));
    const std::vector<app::NodeChange> quotas = {app::QuotaChange{.instance = "aaaa", .revert = true},
                                                 app::QuotaChange{.instance = "aaaa", .weight = 1}};
    EXPECT_EQ(actions_for(gpus, node, 1000), std::vector{Action::manage_policy});
    EXPECT_EQ(actions_for(quotas, node, 1000), std::vector{Action::manage_instance});
    EXPECT_EQ(actions_for({quotas[0], gpus[0]}, node, 1000),
              (std::vector{Action::manage_policy, Action::manage_instance}));
    const std::vector<app::NodeChange> less = {app::QuotaChange{.instance = "aaaa", .weight = 1}};
    EXPECT_EQ(actions_for(less, node, 1000), std::vector{Action::manage_own});
    EXPECT_EQ(actions_for(less, node, 1001), std::vector{Action::manage_instance});
    EXPECT_EQ(as_authorized({}, {Action::manage_own}, {1000, 7}).only_lowered_of, 1000U);
    EXPECT_FALSE(as_authorized({}, {Action::manage_instance}, {1000, 7}).only_lowered_of);
}

/// Nothing is changed by it, and the refusal that helps is that of the word.
TEST(Actions, AWordThatMeansNoInstanceOrSeveralNeedsNoRightToThoseOfOthers) {
    model::Node node = cgpu::test::v100();
    for (const char* id : {"aaaa", "bbbb"}) {
        auto made = cgpu::test::instance(id, {cgpu::test::quota(0, 1024, 2)});
        made.name = "web";
        ASSERT_TRUE(node.add_instance(made));
    }
    for (const char* word : {"web", "none"}) {
        const app::QuotaChange change{.instance = word, .memory_limit = model::Bytes(1)};
        EXPECT_EQ(actions_for({change}, node, 1000), std::vector{Action::manage_own}) << word;
        EXPECT_EQ(actions_for({change, app::QuotaChange{.instance = "aaaa", .weight = 1}}, node, 1000),
                  std::vector{Action::manage_instance});
    }
}

TEST(Actions, HighPriorityAtTheStartNeedsWhatSettingItNeeds) {
    using Variables = request::Variables;
    for (const Variables& high : {
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "high"}},
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", " 1 "}},
             Variables{{"CGPU_MEM", "1GiB"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "1"}},
             Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}, {"ALIYUN_COM_GPU_HIGH_PRIO", "high"}},
             Variables{{"ALIYUN_COM_GPU_MEM_CONTAINER", "3"}, {"CGPU_PRIO", "high"}},
             Variables{{"volcano.sh/gpu-mem.128Mi", "8"}, {"CGPU_PRIO", "1"}},
             Variables{{"aliyun.com/gpu-mem", "3"}, {"CGPU_PRIO", "high"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "1"}},
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "high"}, {"CGPU_TYPO", "1"}},
         })
        EXPECT_EQ(actions_for(high, {}, std::nullopt, {}), std::vector{Action::manage_instance})
            << high.begin()->first;
    for (const Variables& not_high : {
             Variables{},
             Variables{{"CGPU_MEM", "1GiB"}},
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "normal"}},
             Variables{{"CGPU_MEM", "1GiB"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "0"}},
             // Not managed, so that it has no priority.
             Variables{{"CGPU_DISABLE", "1"}, {"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "high"}},
             Variables{{"ALIYUN_COM_GPU_HIGH_PRIO", "1"}},
             // Refused whoever asks.
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "highest"}},
             Variables{{"CGPU_MEM", "1GiB"}, {"CGPU_PRIO", "high"}, {"ALIYUN_COM_GPU_HIGH_PRIO", "0"}},
         })
        EXPECT_EQ(actions_for(not_high, {}, std::nullopt, {}), std::vector{Action::run});
}

TEST(Actions, AWeakerModeThanTheConfiguredOneNeedsWhatSettingItNeeds) {
    using model::Mode;
    const auto gpu = [](std::uint8_t n, Mode mode) {
        auto sighting = cgpu::test::gpu(n, 16130);
        sighting.settings_if_new.mode = mode;
        return sighting;
    };
    const model::Node node = cgpu::test::node({gpu(0, Mode::memory_compute), gpu(1, Mode::memory)});
    const auto asking = [&](const char* mode, const char* gpus, std::optional<Mode> switched = {}) {
        request::Variables variables{{"CGPU_MEM", "1GiB"}, {"CGPU_MODE", mode}};
        if (*gpus != 0) variables["CGPU_GPUS"] = gpus;
        return actions_for(variables, node, switched, {}).back() == Action::upgrade_module;
    };
    EXPECT_TRUE(asking("none", ""));
    EXPECT_TRUE(asking("memory", ""));
    EXPECT_TRUE(asking("memory", "0"));
    EXPECT_TRUE(asking("none", "1"));
    EXPECT_TRUE(asking("memory", "1,0"));
    EXPECT_FALSE(asking("memory", "1"));
    EXPECT_FALSE(asking("memory+compute", ""));
    EXPECT_FALSE(asking("memory", "", Mode::memory));
    EXPECT_TRUE(asking("none", "1", Mode::memory));
    const std::vector both{Action::manage_instance, Action::upgrade_module};
    EXPECT_EQ(actions_for({{"CGPU_MEM", "1GiB"}, {"CGPU_MODE", "none"}, {"CGPU_PRIO", "high"}}, node, {}, {}),
              both);
}

TEST(Actions, AProfileIsNoWayAroundTheRightToHighPriority) {
    request::Profiles profiles;
    profiles["urgent"].values.memory = model::Bytes::from_gib(1);
    profiles["urgent"].values.high_priority = true;
    const auto asking = [&](request::Variables variables) {
        variables.emplace("CGPU_PROFILE", "urgent");
        return actions_for(variables, {}, std::nullopt, profiles);
    };
    EXPECT_EQ(asking({}), std::vector{Action::manage_instance});
    EXPECT_EQ(asking({{"CGPU_PRIO", "normal"}}), std::vector{Action::run});
    profiles["urgent"].values.high_priority = false;
    EXPECT_EQ(asking({}), std::vector{Action::run});
    EXPECT_EQ(asking({{"CGPU_PRIO", "high"}}), std::vector{Action::manage_instance});
}

TEST(Actions, ARefusalNamesThePartThatNeedsMore) {
    const app::Result<void> no = model::refuse(model::Refusal::Reason::not_permitted, "this change",
                                               "polkit does not allow it", "do the same as root (sudo)");
    EXPECT_EQ(Authority::about("high priority", "ask for normal priority", no).error().text,
              "high priority: polkit does not allow it. Try: do the same as root (sudo), or ask for normal "
              "priority.");
    EXPECT_TRUE(Authority::about("high priority", "ask for normal priority", {}));
}

TEST_F(AuthorityTest, NoIsASentence) {
    MockPolkit polkit(Mood::no);
    expect_refused(
        answer_to(kUser),
        "changing the settings of a GPU: user id 1000 may not: polkit doesn't allow "
        "org.cgpu1.manage-policy to that user. Try: do the same as root (sudo), or let an administrator "
        "allow org.cgpu1.manage-policy to that user in /etc/polkit-1/rules.d/50-cgpu.rules");
}

TEST_F(AuthorityTest, APasswordThatCanNotBeAskedForIsASentence) {
    MockPolkit polkit(Mood::challenge);
    expect_refused(answer_to(kUser),
                   "user id 1000 may not without an administrator's password (polkit's "
                   "org.cgpu1.manage-policy), and the caller can't be asked for it. Try: ");
    expect_refused(answer_to(kAtTerminal), "and no polkit agent runs that asks for it. Try: ");
}

TEST_F(AuthorityTest, WithoutPolkitOnlyRootMay) {
    expect_refused(answer_to(kUser), "only root may where there is no polkit to ask");
    MockPolkit polkit(Mood::yes);
    EXPECT_TRUE(answer_to(kUser)) << "and it is found as soon as it is there";
}

TEST_F(AuthorityTest, ACallerThatHasEndedIsNoSignOfAMissingPolkit) {
    MockPolkit polkit(Mood::gone);
    const auto answer = answer_to(kUser);
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().text.find("left the bus before polkit knew"), std::string::npos)
        << answer.error().text;
}

TEST_F(AuthorityTest, ACallerThatHasEndedIsNotToldThatItsUserMayNot) {
    // It has no name any more, and none again: a bus gives names once.
    const compat::Caller killed{1000, ":1.99999", false};
    for (const Mood mood : {Mood::no, Mood::challenge}) {
        MockPolkit polkit(mood);
        const auto answer = answer_to(killed);
        ASSERT_FALSE(answer);
        EXPECT_NE(answer.error().text.find("the caller, user id 1000, left the bus"), std::string::npos)
            << answer.error().text;
    }
}

TEST_F(AuthorityTest, OneThatAnswersLateHoldsNobodyElseUp) {
    Authority patient(*connection_, callers_);
    MockPolkit polkit(Mood::hold);
    Answer late;
    patient.ask(Action::manage_policy, kUser, [&late](const app::Result<void>& said) { late = said; });
    EXPECT_FALSE(late) << "it does not wait";
    run_until([&] { return polkit.questions().size() == 1; });
    polkit.set_mood(Mood::no);
    expect_refused(answer_to(kUser), "polkit doesn't allow");
    EXPECT_FALSE(late);
    polkit.answer_held();
    run_until([&] { return late.has_value(); });
    EXPECT_TRUE(*late);
}

TEST_F(AuthorityTest, AUserWithManyOpenQuestionsLeavesRoomForTheOthers) {
    Authority patient(*connection_, callers_);
    MockPolkit polkit(Mood::hold);
    std::vector<Answer> answers(20);
    for (auto& answer : answers)
        patient.ask(Action::manage_policy, kUser,
                    [&answer](const app::Result<void>& said) { answer = said; });
    const auto refused = [&] {
        return std::count_if(answers.begin(), answers.end(),
                             [](const Answer& answer) { return answer && !*answer; });
    };
    EXPECT_EQ(refused(), 12) << "at once";
    EXPECT_EQ(answers.back()->error().reason, model::Refusal::Reason::try_again);
    run_until([&] { return polkit.questions().size() == Authority::kMostOfUser; });
    Answer other;
    patient.ask(Action::manage_policy, {1001, ":1.43", false},
                [&other](const app::Result<void>& said) { other = said; });
    run_until([&] { return polkit.questions().size() == Authority::kMostOfUser + 1; });
    polkit.answer_held();
    run_until([&] { return other.has_value() && answers.front().has_value(); });
    EXPECT_TRUE(*other);
    Answer again;
    polkit.set_mood(Mood::yes);
    patient.ask(Action::manage_policy, kUser, [&again](const app::Result<void>& said) { again = said; });
    run_until([&] { return again.has_value(); });
    EXPECT_TRUE(*again) << "once they are answered there is room";
}

TEST_F(AuthorityTest, OneThatNeverAnswersIsToldThatNobodyWaits) {
    MockPolkit polkit(Mood::hold);
    expect_refused(answer_to(kAtTerminal), "polkit was asked about user id 1000 and gave no answer");
    run_until([&] { return !polkit.cancelled().empty(); });
    EXPECT_EQ(polkit.cancelled(), std::vector<std::string>{polkit.questions().at(0).id});
}

TEST_F(AuthorityTest, OneThatGoesAwayMeanwhileHasNotAnswered) {
    Authority patient(*connection_, callers_);
    auto polkit = std::make_unique<MockPolkit>(Mood::hold);
    Answer answer;
    patient.ask(Action::manage_policy, kUser, [&answer](const app::Result<void>& said) { answer = said; });
    run_until([&] { return polkit->questions().size() == 1; });
    polkit.reset();
    run_until([&] { return answer.has_value(); });
    expect_refused(*answer, "polkit was asked about user id 1000 and gave no answer");
}

TEST_F(AuthorityTest, WhoAsksAndGoesIsNotCalledBack) {
    MockPolkit polkit(Mood::hold);
    bool called = false;
    {
        Authority short_lived(*connection_, callers_);
        short_lived.ask(Action::manage_policy, kUser, [&called](const app::Result<void>&) { called = true; });
        run_until([&] { return polkit.questions().size() == 1; });
    }
    polkit.answer_held();
    polkit.set_mood(Mood::yes);
    EXPECT_TRUE(answer_to(kUser)) << "which comes after it";
    EXPECT_FALSE(called);
}

}  // namespace
}  // namespace cgpu::bus::test
