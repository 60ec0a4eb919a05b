#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

/// status and list take one input here, and show takes the target with what all verbs share.
class ReadVerbs : public testing::Test {
  protected:
    client::Result<void> call(client::Result<void> (*verb)(const ShowInput&, client::Node&, Terminal&)) {
        auto terminal = screen_.terminal();
        ShowInput input;
        static_cast<Input&>(input) = input_;
        input.target = target_;
        return verb(input, node_, terminal);
    }
    template <class Own>
    client::Result<void> call(client::Result<void> (*verb)(const Own&, client::Node&, Terminal&)) {
        auto terminal = screen_.terminal();
        return verb(input_, node_, terminal);
    }
    template <class Verb>
    std::string printed(Verb verb) {
        const auto done = call(verb);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }
    template <class Verb>
    nlohmann::json parsed(Verb verb) {
        input_.json = true;
        return nlohmann::json::parse(printed(verb));
    }

    /// The first instance, which is the target then.
    void uses_foreign_gpu() {
        client::ForeignGpu foreign{"GPU-foreign", 3, {}};
        foreign.usage.memory_used = 150 << 20;
        foreign.usage.processes_outside = {4713};
        node_.snapshot.instances[0].foreign_gpus = {foreign};
        target_ = "web";
    }

    FakeNode node_;
    Screen screen_;
    ListInput input_;
    std::string target_;
};

TEST_F(ReadVerbs, StatusHasALineForEachGpu) {
    EXPECT_EQ(
        printed(&status),
        "cgpud 1.2.3, module 1.2.0\n"
        "GPU  MODEL                 POLICY    MODE            INSTANCES  FREE WEIGHT  MEMORY ALLOCATED\n"
        "0    Tesla V100-SXM2-16GB  weighted  memory+compute  1 of 20    18           4301MiB / 16130MiB\n"
        "1    Tesla V100-SXM2-16GB  weighted  memory+compute  0 of 20    20           0MiB / 16130MiB\n");
    EXPECT_EQ(screen_.err.str(), "");
}

TEST_F(ReadVerbs, ListShowsContainersWithoutALimit) {
    auto& snapshot = node_.snapshot;
    snapshot.instances[0].managed = false;
    snapshot.unmanaged = {{"aaaabbbbccccdddd", "free", 1, 12, {kUuid1}, {{kUuid0, 300 * kMib}}},
                          {"bbbb", "any", 2, 0, {}, {}}};
    input_.no_legend = true;
    const std::string text = printed(&list);
    EXPECT_NE(text.find("aaaabbbbcccc  free  -  0    300MiB "), std::string::npos) << text;
    EXPECT_NE(text.find("aaaabbbbcccc  free  -  1    0MiB "), std::string::npos) << text;
    EXPECT_NE(text.find("bbbb          any   -  all  0MiB "), std::string::npos) << text;
    std::size_t rows = 0;
    for (auto at = text.find("unmanaged\n"); at != std::string::npos; at = text.find("unmanaged\n", at + 1))
        ++rows;
    EXPECT_EQ(rows, 4U) << "the instance books its GPU";
    screen_.out.str("");
    const auto all = parsed(&list);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0]["managed"], false);
    EXPECT_EQ(all[1]["state"], "unmanaged");
    EXPECT_EQ(all[1]["gpus"].size(), 2U);
    EXPECT_EQ(all[1]["gpus"][0]["memory_used_bytes"], 300 * kMib);
    EXPECT_EQ(all[1]["gpus"][0]["memory_limit_bytes"], nullptr);
    EXPECT_EQ(all[2]["gpus"].size(), 2U) << "it may use all";
}

TEST_F(ReadVerbs, WhatIsKeptHasALineForEachDevice) {
    input_.kept = true;
    EXPECT_EQ(printed(&list), "NAME  OWNER  DEVICE  MEMORY  WEIGHT  PRIORITY\n");
    node_.snapshot.kept = {{0, "web", 0, 2048 * kMib, 4, std::nullopt},
                           {0, "web", 1, std::nullopt, std::nullopt, false},
                           {1000, "train", 0, std::nullopt, std::nullopt, true}};
    screen_.out.str("");
    EXPECT_EQ(printed(&list),
              "NAME   OWNER  DEVICE  MEMORY   WEIGHT  PRIORITY\n"
              "web    0      0       2048MiB  4       -\n"
              "web    0      1       -        -       normal\n"
              "train  1000   0       -        -       high\n");
    input_.quiet = true;
    screen_.out.str("");
    EXPECT_EQ(printed(&list), "train\nweb\n");
    screen_.out.str("");
    const auto all = parsed(&list);
    EXPECT_EQ(all.at(0), (nlohmann::json{{"name", "web"},
                                         {"owner", 0},
                                         {"device", 0},
                                         {"memory_limit_bytes", 2048 * kMib},
                                         {"weight", 4},
                                         {"high_priority", nullptr}}));
    EXPECT_EQ(all.at(1).at("high_priority"), false);
}

TEST_F(ReadVerbs, StatusOffersANewerModule) {
    node_.snapshot.modules_installed = {"1.1.0", "1.2.0"};
    EXPECT_TRUE(printed(&status).starts_with("cgpud 1.2.3, module 1.2.0\nGPU "));
    node_.snapshot.modules_installed = {"1.1.0", "1.2.0", "1.2.1", "1.10.0"};
    screen_.out.str("");
    EXPECT_TRUE(printed(&status).starts_with(
        "cgpud 1.2.3, module 1.2.0\n"
        "module 1.10.0 is installed, and 1.2.0 stays in force. Try: cgpuctl upgrade --hot 1.10.0, or --cold "
        "while no instance is there.\nGPU "));
    screen_.out.str("");
    EXPECT_EQ(parsed(&status).at("modules_installed").back(), "1.10.0");
}

TEST_F(ReadVerbs, StatusWarnsOnStderr) {
    node_.snapshot.module_version.clear();
    EXPECT_TRUE(printed(&status).starts_with("cgpud 1.2.3, module none\n"));
    EXPECT_TRUE(screen_.err.str().starts_with("warning: module: none is installed"));
}

TEST_F(ReadVerbs, QuietStatusDoesNotWarn) {
    node_.snapshot.module_version.clear();
    input_.quiet = true;
    printed(&status);
    EXPECT_EQ(screen_.err.str(), "");
}

TEST_F(ReadVerbs, StatusAsJson) {
    const auto json = parsed(&status);
    EXPECT_EQ(json.at("version"), "1.2.3");
    EXPECT_EQ(json.at("module_version"), "1.2.0");
    EXPECT_EQ(json.at("gpus").at(0).at("memory_allocated_bytes"), 4509925376);
    EXPECT_EQ(json.at("gpus").at(0).at("policy"), 2);
    EXPECT_EQ(json.at("gpus").at(0).at("prio_ratio"), 0.8);
    EXPECT_EQ(json.at("instances").at(0).at("id"), kWebId);
    EXPECT_TRUE(json.at("warnings").empty());
    EXPECT_TRUE(json.at("configuration_problems").empty());
}

TEST_F(ReadVerbs, StatusAsJsonHasTheFunctionsOfANewerDriver) {
    EXPECT_TRUE(parsed(&status).at("newer_driver_functions").empty());
    screen_.out.str("");
    node_.snapshot.newer_driver_functions = {"cuFoo"};
    EXPECT_EQ(parsed(&status).at("newer_driver_functions"), nlohmann::json{"cuFoo"});
}

TEST_F(ReadVerbs, StatusAsJsonHasWhatIsWrongWithTheConfiguration) {
    node_.snapshot.configuration_problems = {{"/etc/cgpu/cgpud.yaml", 3, "a message", 1700000000}};
    const auto json = parsed(&status);
    EXPECT_EQ(json.at("configuration_problems"), (nlohmann::json{{{"file", "/etc/cgpu/cgpud.yaml"},
                                                                  {"line", 3},
                                                                  {"message", "a message"},
                                                                  {"since_seconds", 1700000000}}}));
    EXPECT_EQ(json.at("warnings").size(), 1U);
}

TEST_F(ReadVerbs, ListAlignsItsColumns) {
    EXPECT_EQ(
        printed(&list),
        "ID            NAME  OWNER  GPU  MEMORY            WEIGHT  SHARE         PID   MODULE  STATE\n"
        "0123456789ab  web   -      0    200MiB / 4301MiB  2       100% / 33.3%  4711  1.2.0   running\n");
}

TEST_F(ReadVerbs, ListSaysWhoseAnInstanceIs) {
    node_.snapshot.instances[0].declared_owner = "alice";
    EXPECT_NE(printed(&list).find("web   alice (declared)  0 "), std::string::npos);
    screen_.out.str("");
    node_.snapshot.instances[0].owner = 0;
    EXPECT_NE(printed(&list).find("web   root   0 "), std::string::npos);
    screen_.out.str("");
    input_.host = "alice@elsewhere";
    EXPECT_NE(printed(&list).find("web   0      0 "), std::string::npos) << "users are another machine's";
}

TEST_F(ReadVerbs, ListHasALineForEachGpuOfAnInstance) {
    node_.snapshot.instances[0].gpus.push_back({{kUuid1, 1, 1024 * kMib, 1, true}, {}});
    node_.snapshot.instances[0].gpus[1].usage.target_share = 0;
    node_.snapshot.instances[0].gpus[1].usage.achieved_share = 0;
    input_.no_legend = true;
    EXPECT_EQ(printed(&list),
              "0123456789ab  web  -  0  200MiB / 4301MiB  2       100% / 33.3%  4711  1.2.0  running\n"
              "0123456789ab  web  -  1  0MiB / 1024MiB    1 high  0% / 0%       4711  1.2.0  running\n");
}

TEST_F(ReadVerbs, AWaitingInstanceHasNoPid) {
    node_.snapshot.instances[0].pid = 0;
    node_.snapshot.instances[0].state = "waiting";
    EXPECT_TRUE(printed(&list).ends_with("  -    1.2.0   waiting\n"));
}

TEST_F(ReadVerbs, ListQuietPrintsFullIds) {
    input_.quiet = true;
    EXPECT_EQ(printed(&list), std::string(kWebId) + "\n");
}

TEST_F(ReadVerbs, ListOfNothing) {
    node_.snapshot.instances.clear();
    EXPECT_EQ(printed(&list), "ID  NAME  OWNER  GPU  MEMORY  WEIGHT  SHARE  PID  MODULE  STATE\n");
}

TEST_F(ReadVerbs, ListAsJsonIsAnArrayInBaseUnits) {
    const auto json = parsed(&list);
    ASSERT_EQ(json.size(), 1U);
    EXPECT_EQ(json.at(0).at("created_seconds"), 1700000000);
    const auto& gpu = json.at(0).at("gpus").at(0);
    EXPECT_EQ(gpu.at("uuid"), kUuid0);
    EXPECT_EQ(gpu.at("memory_limit_bytes"), 4509925376);
    EXPECT_EQ(gpu.at("gpu_time_seconds"), 1.5);
    EXPECT_EQ(gpu.at("waited_seconds"), 0.02);
    EXPECT_EQ(gpu.at("achieved_share"), 0.333);
    EXPECT_EQ(gpu.at("processes"), nlohmann::json({4711, 4712}));
}

TEST_F(ReadVerbs, JsonOfANameThatIsNoUtf8) {
    node_.snapshot.instances[0].name = "\xff";
    EXPECT_EQ(parsed(&list).at(0).at("name"), "\xef\xbf\xbd");
}

TEST_F(ReadVerbs, ShowAGpuByIndexWithItsInstances) {
    target_ = "0";
    node_.examination.gpus = {{kUuid0, true, {}, {"misc", "", std::nullopt}}};
    EXPECT_EQ(printed(&show),
              "GPU:               0\n"
              "UUID:              GPU-00000000-0000-0000-0000-000000000000\n"
              "Model:             Tesla V100-SXM2-16GB\n"
              "Mode:              memory+compute\n"
              "Policy:            2 weighted\n"
              "Max instances:     20\n"
              "Free weight:       18\n"
              "Priority ratio:    80%\n"
              "Memory allocated:  4301MiB / 16130MiB\n"
              "Memory used:       200MiB\n"
              "Strangers:         not known\n"
              "Xid errors:        none\n"
              "Driver's limits:   misc, not used\n"
              "\n"
              "ID            NAME  MEMORY            WEIGHT  SHARE         STATE\n"
              "0123456789ab  web   200MiB / 4301MiB  2       100% / 33.3%  running\n");
}

TEST_F(ReadVerbs, ShowAnInstanceByName) {
    target_ = "web";
    const std::string text = printed(&show);
    EXPECT_TRUE(text.starts_with("Instance:  0123456789abcdef0123456789abcdef\n")) << text;
    for (const char* fact :
         {"Memory:               200MiB / 4301MiB\n", "Weight:               2\n",
          "Allocations refused:  0\n", "Share due:            100%\n", "Share achieved:       33.3%\n",
          "GPU time:             1.5s\n", "Waited:               20ms\n", "Longest kernel:       4.1ms\n",
          "Processes:            4711 4712\n"})
        EXPECT_NE(text.find(fact), std::string::npos) << fact << "in\n" << text;
}

TEST_F(ReadVerbs, MemoryPastTheModuleIsShown) {
    node_.snapshot.instances[0].gpus[0].usage.memory_unexplained = 150 << 20;
    const std::string memory = "200MiB / 4301MiB (150MiB unexplained)";
    EXPECT_NE(printed(&list).find(memory), std::string::npos);
    target_ = "web";
    EXPECT_NE(printed(&show).find(memory), std::string::npos);
}

TEST_F(ReadVerbs, ProcessesOutsideTheModuleAreShown) {
    auto& usage = node_.snapshot.instances[0].gpus[0].usage;
    usage.processes_outside = {4713};
    target_ = "web";
    EXPECT_NE(printed(&list).find("200MiB / 4301MiB (1 process outside the module)"), std::string::npos);
    EXPECT_NE(printed(&show).find("Outside the module:  4713\n"), std::string::npos);
    usage.memory_unexplained = 150 << 20;
    usage.processes_outside = {4713, 4714};
    EXPECT_NE(printed(&list).find("(150MiB unexplained, 2 processes outside the module)"), std::string::npos);
}

TEST_F(ReadVerbs, ComputeThatNobodyReportsIsShown) {
    node_.snapshot.instances[0].gpus[0].usage.compute_unexplained = 0.484;
    target_ = "web";
    EXPECT_NE(printed(&list).find("% (48.4% unexplained)"), std::string::npos) << printed(&list);
    EXPECT_NE(printed(&show).find("Compute unexplained:  48.4%\n"), std::string::npos) << printed(&show);
}

TEST_F(ReadVerbs, ProcessesOutsideTheModuleAreInTheJson) {
    node_.snapshot.instances[0].gpus[0].usage.processes_outside = {4713};
    node_.snapshot.instances[0].gpus[0].usage.compute_unexplained = 0.484;
    target_ = "web";
    const auto gpu = parsed(&show).at("gpus").at(0);
    EXPECT_EQ(gpu.at("processes_outside"), (std::vector<std::uint32_t>{4713}));
    EXPECT_EQ(gpu.at("compute_unexplained_share"), 0.484);
}

TEST_F(ReadVerbs, AForeignGpuHasALineOfItsOwn) {
    uses_foreign_gpu();
    EXPECT_NE(printed(&list).find("150MiB (not its GPU: 1 process outside the module)"), std::string::npos);
    EXPECT_NE(printed(&show).find("Not its GPU:         3 (GPU-foreign)\n"
                                  "Memory:              150MiB\n"
                                  "Outside the module:  4713\n"),
              std::string::npos)
        << printed(&show);
}

TEST_F(ReadVerbs, AForeignGpuIsInTheJson) {
    uses_foreign_gpu();
    const auto entry = parsed(&show).at("foreign_gpus").at(0);
    EXPECT_EQ(entry.at("index"), 3);
    EXPECT_EQ(entry.at("memory_used_bytes"), 150 << 20);
    EXPECT_EQ(entry.at("processes_outside"), (std::vector<std::uint32_t>{4713}));
}

TEST_F(ReadVerbs, ShowSaysOfAWeightThatItDecidesNothing) {
    node_.snapshot.gpus[0].policy = 1;
    node_.snapshot.gpus[0].policy_name = "preemptive";
    target_ = "web";
    EXPECT_NE(printed(&show).find("Weight:               2 (no effect under policy preemptive)\n"),
              std::string::npos);
}

TEST_F(ReadVerbs, WhereTheDriverDividesNoShareIsMadeUp) {
    auto& usage = node_.snapshot.instances[0].gpus[0].usage;
    usage.target_share.reset();
    usage.achieved_share.reset();
    EXPECT_NE(printed(&list).find("  native  "), std::string::npos);
    target_ = "web";
    const auto text = printed(&show);
    EXPECT_NE(text.find("Share due:            native (the driver divides)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("Share achieved:       native (not measured)\n"), std::string::npos) << text;
    target_ = "0";
    EXPECT_NE(printed(&show).find("  native  running\n"), std::string::npos);
    screen_.out.str("");
    const auto gpu = parsed(&list).at(0).at("gpus").at(0);
    EXPECT_TRUE(gpu.at("target_share").is_null());
    EXPECT_TRUE(gpu.at("achieved_share").is_null());
}

TEST_F(ReadVerbs, APercentageIsShownBesideTheWeightThatItIs) {
    target_ = "web";
    auto& quota = node_.snapshot.instances[0].gpus[0].quota;
    EXPECT_TRUE(parsed(&show).at("gpus").at(0).at("asked_share").is_null());
    screen_.out.str("");
    quota.percent = 10;
    EXPECT_EQ(parsed(&show).at("gpus").at(0).at("asked_share"), 0.1);
    input_.json = false;
    EXPECT_NE(printed(&show).find("Weight:               2 (10% of the compute)\n"), std::string::npos);
    node_.snapshot.gpus[0].policy = 1;
    node_.snapshot.gpus[0].policy_name = "preemptive";
    EXPECT_NE(printed(&show).find("2 (10% of the compute, no effect under policy preemptive)\n"),
              std::string::npos);
}

TEST_F(ReadVerbs, RefusedAllocationsAreShown) {
    node_.snapshot.instances[0].gpus[0].usage.allocations_refused = 3;
    target_ = "web";
    EXPECT_NE(printed(&show).find("Allocations refused:  3\n"), std::string::npos);
    screen_.out.str("");
    EXPECT_EQ(parsed(&show).at("gpus").at(0).at("allocations_refused"), 3);
}

TEST_F(ReadVerbs, ANumberThatIsNoIndexIsTheBeginningOfAnId) {
    target_ = "012345";
    EXPECT_EQ(parsed(&show).at("id"), kWebId);
}

TEST_F(ReadVerbs, ShowAsJson) {
    target_ = kUuid1;
    const auto json = parsed(&show);
    EXPECT_EQ(json.at("index"), 1);
    EXPECT_EQ(json.at("driver_limits").at("backend"), "none");
    EXPECT_EQ(json.at("driver_limits").at("why_none"), "the driver doesn't show this GPU");
    EXPECT_TRUE(json.at("driver_limits").at("own_limit_bytes").is_null());
}

TEST_F(ReadVerbs, WhatIsNotThereIsNotFound) {
    for (const char* target : {"nobody", "GPU-22222222-2222-2222-2222-222222222222"}) {
        target_ = target;
        const auto done = call(&show);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::not_found);
    }
    EXPECT_EQ(screen_.out.str(), "");
}

TEST_F(ReadVerbs, AnErrorOfTheNodeIsPassedOn) {
    node_.answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: gone. Try: start it.");
    for (const auto& done : {call(&status), call(&list), call(&show)}) {
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::unreachable);
    }
}

}  // namespace
}  // namespace cgpu::cgpuctl
