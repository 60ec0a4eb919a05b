#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/changing.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

/// All verbs but forget get the same input here, as far as they take it.
class ChangeVerbs : public VerbTest<MemoryInput> {
  protected:
    using VerbTest<MemoryInput>::call;

    client::Result<void> call(Verb<GpuSettingInput> verb) {
        GpuSettingInput input;
        static_cast<ChangingInput&>(input) = input_;
        input.gpu = input_.gpu;
        input.value = input_.value;
        return call(verb, input);
    }
    client::Result<void> call(Verb<DefaultMemoryInput> verb) {
        DefaultMemoryInput input;
        static_cast<ChangingInput&>(input) = input_;
        input.memory = input_.value;
        return call(verb, input);
    }
    template <class Own>
    client::Result<void> call_with(const std::string& value, Verb<Own> verb) {
        input_.value = value;
        return call(verb);
    }
};

TEST_F(ChangeVerbs, SetPolicyByNumberSaysTheName) {
    input_.gpu = "0";
    input_.value = "2";
    ASSERT_TRUE(call(&set_policy));
    EXPECT_EQ(node_.calls, Calls{"GPU 0 policy 2"});
    EXPECT_EQ(screen_.out.str(), "GPU 0: policy weighted is set.\n");
}

TEST_F(ChangeVerbs, SetPolicyThatIsNone) {
    input_.gpu = "0";
    input_.value = "7";
    const auto done = call(&set_policy);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::usage);
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(ChangeVerbs, DryRunIsPassedOnAndSaid) {
    input_.gpu = "1";
    input_.value = "8";
    input_.dry_run = true;
    ASSERT_TRUE(call(&set_max_inst));
    EXPECT_EQ(node_.calls, Calls{"GPU 1 max_inst 8 dry-run"});
    EXPECT_EQ(screen_.out.str(), "GPU 1: max_inst 8 could be set; nothing was changed.\n");
}

TEST_F(ChangeVerbs, RuntimeIsToldToCgpudAndSaid) {
    input_.runtime = true;
    input_.gpu = "0";
    ASSERT_TRUE(call_with("weighted", &set_policy));
    ASSERT_TRUE(call_with("8", &set_max_inst));
    ASSERT_TRUE(call_with("70", &set_prio_ratio));
    ASSERT_TRUE(call_with("4GiB", &set_default_memory));
    EXPECT_EQ(node_.calls, (Calls{"GPU 0 policy weighted runtime", "GPU 0 max_inst 8 runtime",
                                  "GPU 0 prio_ratio 70 runtime", "set_default_memory 4294967296 runtime"}));
    EXPECT_EQ(
        screen_.out.str(),
        "GPU 0: policy weighted is set, until the reboot.\nGPU 0: max_inst 8 is set, until the reboot.\n"
        "GPU 0: prio_ratio 70 is set, until the reboot.\n"
        "Default memory 4096MiB is set, until the reboot.\n");
    input_.value = "configured";
    const auto done = call(&set_default_memory);
    ASSERT_FALSE(done) << "the configuration's holds for good";
    EXPECT_EQ(done.error().kind, Kind::usage);
}

TEST_F(ChangeVerbs, SetMemoryWaitsUntilTheInstanceHoldsNoMoreOrItsTimeIsOver) {
    int reads_left = 2;
    node_.before_reading = [&](client::Snapshot& snapshot) {
        auto& place = snapshot.instances[0].gpus[0];
        place.quota.memory_limit = 100 * kMib;
        place.usage.memory_used = reads_left-- > 0 ? 200 * kMib : 90 * kMib;
    };
    input_.instances = {"web"};
    input_.value = "100MiB";
    input_.force = input_.wait = true;
    ASSERT_TRUE(call(&set_memory));
    EXPECT_LT(reads_left, 0);
    EXPECT_EQ(node_.calls, Calls{"web [] memory 104857600 force"});

    reads_left = 1000;
    input_.timeout = "1";
    const auto done = call(&set_memory);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::failed);
    EXPECT_EQ(done.error().text,
              "instance web: it holds 200MiB, and its limit is 100MiB, after 1 s; the change stays. Try: let "
              "it free "
              "memory, or cgpuctl revert INSTANCE.");

    input_.instances = {"gone"};
    EXPECT_EQ(call(&set_memory).error().kind, Kind::not_found);
    input_.wait = false;
    EXPECT_EQ(call(&set_memory).error().kind, Kind::usage) << "--timeout without --wait";
}

TEST_F(ChangeVerbs, QuietSaysNothing) {
    input_.gpu = "1";
    input_.value = "8";
    input_.quiet = true;
    ASSERT_TRUE(call(&set_max_inst));
    EXPECT_EQ(screen_.out.str(), "");
}

TEST_F(ChangeVerbs, NumbersAreDigits) {
    input_.gpu = "0";
    for (const char* text : {"", "x", "3x", "-1", "1.5", "99999999999"}) {
        input_.value = text;
        for (const auto& done : {call(&set_max_inst), call(&set_weight), call(&set_prio_ratio)}) {
            ASSERT_FALSE(done) << text;
            EXPECT_EQ(done.error().kind, Kind::usage) << text;
        }
    }
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(ChangeVerbs, SetWeightOnOneOfItsGpus) {
    input_.instances = {"web"};
    input_.value = "004";
    input_.gpu = "1";
    ASSERT_TRUE(call(&set_weight));
    EXPECT_EQ(node_.calls, Calls{"web [1] weight 4"});
    EXPECT_EQ(screen_.out.str(), "Instance web: weight 4 is set, until the instance ends.\n");
}

TEST_F(ChangeVerbs, PriorityOfAnInstanceAndOfAGpu) {
    input_.instances = {"web"};
    input_.value = "high";
    ASSERT_TRUE(call(&set_priority));
    input_.value = "normal";
    input_.gpu = "1";
    ASSERT_TRUE(call(&set_priority));
    input_.value = "80";
    ASSERT_TRUE(call(&set_prio_ratio));
    EXPECT_EQ(node_.calls, (Calls{"web [] high", "web [1] normal", "GPU 1 prio_ratio 80"}));
    EXPECT_EQ(screen_.out.str(),
              "Instance web: high priority is set, until the instance ends.\n"
              "Instance web: normal priority is set, until the instance ends.\n"
              "GPU 1: prio_ratio 80 is set.\n");
    input_.value = "highest";
    EXPECT_EQ(call(&set_priority).error().kind, Kind::usage);
}

TEST_F(ChangeVerbs, SetMemoryInBytes) {
    input_.instances = {"web"};
    input_.value = "4301MiB";
    ASSERT_TRUE(call(&set_memory));
    EXPECT_EQ(node_.calls, Calls{"web [] memory 4509925376"});
    EXPECT_EQ(screen_.out.str(), "Instance web: memory limit 4301MiB is set, until the instance ends.\n");
    input_.force = true;
    ASSERT_TRUE(call(&set_memory));
    EXPECT_EQ(node_.calls.back(), "web [] memory 4509925376 force");
}

TEST_F(ChangeVerbs, PersistSaysForWhom) {
    input_.instances = {"0123"};
    input_.persist = true;
    ASSERT_TRUE(call_with("2GiB", &set_memory));
    ASSERT_TRUE(call_with("3", &set_weight));
    ASSERT_TRUE(call_with("high", &set_priority));
    EXPECT_EQ(node_.calls, (Calls{"0123 [] memory 2147483648 persist", "0123 [] weight 3 persist",
                                  "0123 [] high persist"}));
    EXPECT_EQ(screen_.out.str(),
              "Instance 0123: memory limit 2048MiB is set, and kept for the next starts of web.\n"
              "Instance 0123: weight 3 is set, and kept for the next starts of web.\n"
              "Instance 0123: high priority is set, and kept for the next starts of web.\n");
    screen_.out.str("");
    input_.dry_run = true;
    ASSERT_TRUE(call_with("3", &set_weight));
    EXPECT_EQ(screen_.out.str(),
              "Instance 0123: weight 3 could be set, and kept for the next starts of web; nothing was "
              "changed.\n");
}

TEST_F(ChangeVerbs, WhetherItIsKeptIsAFieldOfTheJson) {
    input_.instances = {"0123"};
    input_.value = "2GiB";
    input_.json = true;
    for (const bool persist : {false, true}) {
        screen_.out.str("");
        input_.persist = persist;
        ASSERT_TRUE(call(&set_memory));
        const auto said = nlohmann::json::parse(screen_.out.str());
        EXPECT_EQ(said.at("memory_limit_bytes"), 2147483648U);
        EXPECT_EQ(said.at("kept"), persist);
        EXPECT_EQ(said.at("kept_for"), persist ? nlohmann::json("web") : nlohmann::json());
    }
}

TEST_F(ChangeVerbs, SeveralInstancesAreOneChange) {
    input_.instances = {"web", "db"};
    input_.value = "4";
    input_.gpu = "0";
    ASSERT_TRUE(call(&set_weight));
    EXPECT_EQ(node_.calls, Calls{"web [0] weight 4; db [0] weight 4"});
    EXPECT_EQ(node_.applied, (std::vector<client::Change>{{.instance = "web", .gpu = "0", .weight = 4},
                                                          {.instance = "db", .gpu = "0", .weight = 4}}));
    EXPECT_EQ(screen_.out.str(),
              "Instance web: weight 4 is set, until the instance ends.\n"
              "Instance db: weight 4 is set, until the instance ends.\n");
    screen_.out.str("");
    input_.json = true;
    ASSERT_TRUE(call(&set_weight));
    const auto said = nlohmann::json::parse(screen_.out.str());
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said.at(1).at("instance"), "db");

    input_.force = true;
    ASSERT_TRUE(call_with("1GiB", &set_memory));
    EXPECT_EQ(node_.calls.back(), "web [0] memory 1073741824; db [0] memory 1073741824 force");
    EXPECT_EQ(node_.applied.at(1).memory_limit, 1024 * kMib);
    ASSERT_TRUE(call_with("high", &set_priority));
    EXPECT_EQ(node_.applied.at(0).high_priority, true);
}

TEST_F(ChangeVerbs, SeveralThatAreKeptAreKeptByTheirOwnNames) {
    auto other = node_.snapshot.instances.at(0);
    other.id = "fedcba9876543210fedcba9876543210";
    other.name = "db";
    node_.snapshot.instances.push_back(other);
    input_.instances = {"0123", "fedc"};
    input_.value = "4";
    input_.persist = true;
    ASSERT_TRUE(call(&set_weight));
    EXPECT_EQ(node_.calls, Calls{"0123 [] weight 4; fedc [] weight 4 persist"});
    EXPECT_EQ(screen_.out.str(),
              "Instance 0123: weight 4 is set, and kept for the next starts of web.\n"
              "Instance fedc: weight 4 is set, and kept for the next starts of db.\n");
    input_.instances = {"0123", "gone"};
    EXPECT_EQ(call(&set_weight).error().text,
              "gone: it is not there; none of the instances was changed. Try: another.");
    EXPECT_EQ(node_.calls.size(), 1U);
}

TEST_F(ChangeVerbs, ARefusalForOneOfSeveralSaysThatNoneWasChanged) {
    input_.instances = {"web", "db"};
    input_.value = "4";
    node_.refusals = {{"web [] weight 4; db [] weight 4",
                       {Kind::refused, "change 2: weight 4 for db: none is free. Try: 3."}}};
    EXPECT_EQ(call(&set_weight).error().text,
              "weight 4 for db: none is free; none of the instances was changed. Try: 3.");
    EXPECT_EQ(screen_.out.str(), "");
}

TEST_F(ChangeVerbs, EveryChangeCanBeRefusedIfTheNodeHasChanged) {
    input_.gpu = "0";
    input_.instances = {"web"};
    const auto change_all = [&] {
        ForgetInput forgotten;
        static_cast<ChangingInput&>(forgotten) = input_;
        forgotten.name = "web";
        return std::vector{call_with("fixed", &set_policy),  call_with("8", &set_max_inst),
                           call_with("70", &set_prio_ratio), call_with("4GiB", &set_default_memory),
                           call_with("4GiB", &set_memory),   call_with("2", &set_weight),
                           call_with("high", &set_priority), call(&forget, forgotten)};
    };
    input_.if_generation = "42";
    const auto all = change_all();
    for (const auto& done : all) ASSERT_TRUE(done) << done.error().text;
    ASSERT_EQ(node_.calls.size(), all.size());
    for (const std::string& each : node_.calls) EXPECT_TRUE(each.ends_with(" to 42")) << each;
    input_.if_generation = "-1";
    for (const auto& done : change_all()) EXPECT_EQ(done.error().kind, Kind::usage);
    EXPECT_EQ(node_.calls.size(), all.size());
}

TEST_F(ChangeVerbs, NamesOfPoliciesAndPrioritiesInAnyCase) {
    input_.gpu = "0";
    input_.value = "Weighted";
    ASSERT_TRUE(call(&set_policy));
    input_.gpu.clear();
    input_.instances = {"web"};
    input_.value = "HIGH";
    ASSERT_TRUE(call(&set_priority));
    EXPECT_EQ(node_.calls.back(), "web [] high");
    input_.gpu = "1";
    input_.value = "wieghted";
    EXPECT_NE(call(&set_policy).error().text.find("Try: cgpuctl set-policy 1 weighted."), std::string::npos);
}

TEST_F(ChangeVerbs, ASizeWithoutAUnit) {
    input_.instances = {"web"};
    input_.value = "4";
    const auto done = call(&set_memory);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::usage);
    EXPECT_NE(done.error().text.find("memory limit \"4\": the unit is missing"), std::string::npos);
}

TEST_F(ChangeVerbs, AWeightMayBeAPercentage) {
    input_.instances = {"web"};
    input_.value = "25%";
    ASSERT_TRUE(call(&set_weight));
    ASSERT_EQ(node_.applied.size(), 1U);
    EXPECT_EQ(node_.applied[0].percent, 25U);
    EXPECT_FALSE(node_.applied[0].weight);
    EXPECT_EQ(screen_.out.str(), "Instance web: 25% of the compute is set, until the instance ends.\n");
    for (const char* wrong : {"%", "a%", "25%%", "-1%", "2.5%"}) {
        input_.value = wrong;
        const auto done = call(&set_weight);
        ASSERT_FALSE(done) << wrong;
        EXPECT_EQ(done.error().kind, Kind::usage) << wrong;
        EXPECT_NE(done.error().text.find(std::string("weight \"") + wrong + "\""), std::string::npos);
    }
}

TEST_F(ChangeVerbs, ARefusedPercentageHasNoNumberOfAChange) {
    input_.instances = {"web"};
    input_.value = "33%";
    node_.answer = client::fail(Kind::refused, "change 1: 33% of the compute for instance web: it is no.");
    const auto done = call(&set_weight);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().text, "33% of the compute for instance web: it is no.");
}

TEST_F(ChangeVerbs, TheRemedyIsNeverWhatIsSetAlready) {
    input_.instances = {"web"};
    input_.value = "high";
    input_.gpu = kUuid0;
    node_.snapshot.gpus[0].prio_ratio = 99;
    ASSERT_TRUE(call(&set_priority));
    EXPECT_EQ(screen_.err.str().find("set-prio-ratio"), std::string::npos) << screen_.err.str();
    EXPECT_NE(screen_.err.str().find("Try: cgpuctl set-priority web normal, because more than 99% can't be "
                                     "set."),
              std::string::npos)
        << screen_.err.str();
}

TEST_F(ChangeVerbs, HighPriorityThatLowersAShareWarns) {
    input_.instances = {"web"};
    input_.value = "high";
    ASSERT_TRUE(call(&set_priority));
    EXPECT_NE(screen_.err.str().find("Instance web: 100% of GPU 0 was due to it, and instances with high "
                                     "priority get at most 80% of it together. Try: cgpuctl set-prio-ratio"),
              std::string::npos)
        << screen_.err.str();
}

TEST_F(ChangeVerbs, HighPriorityThatLowersNothingIsSilent) {
    input_.instances = {"web"};
    input_.value = "high";
    auto& place = node_.snapshot.instances[0].gpus[0];
    place.usage.target_share = 0.8;
    ASSERT_TRUE(call(&set_priority));
    place.usage.target_share = 1;
    place.quota.high_priority = true;
    ASSERT_TRUE(call(&set_priority));
    place.quota.high_priority = false;
    input_.value = "normal";
    ASSERT_TRUE(call(&set_priority));
    input_.value = "high";
    input_.quiet = true;
    ASSERT_TRUE(call(&set_priority));
    EXPECT_EQ(screen_.err.str(), "");
}

TEST_F(ChangeVerbs, ARefusalIsPassedOnAndNothingIsSaidDone) {
    node_.answer = client::fail(Kind::refused, "weight 4: none is free. Try: request 3 at most.");
    input_.instances = {"web"};
    input_.value = "4";
    const auto done = call(&set_weight);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::refused);
    EXPECT_EQ(done.error().text, "weight 4: none is free. Try: request 3 at most.");
    EXPECT_EQ(screen_.out.str(), "");
}

}  // namespace
}  // namespace cgpu::cgpuctl
