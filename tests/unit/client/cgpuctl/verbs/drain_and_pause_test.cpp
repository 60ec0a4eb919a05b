#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/changing.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Calls = std::vector<std::string>;
using Kind = client::ClientError::Kind;

using Draining = VerbTest<DrainInput>;
using Pausing = VerbTest<InstanceSettingInput>;

class DrainedAndPaused : public VerbTest<ShowInput> {
  protected:
    [[nodiscard]] bool printed(const std::string& text) const {
        return screen_.out.str().find(text) != std::string::npos;
    }
};

TEST_F(Draining, GpusAreDrainedAsOneChange) {
    input_.gpus = {"0", kUuid1};
    ASSERT_TRUE(call(&drain));
    input_.gpus = {"0"};
    ASSERT_TRUE(call(&undrain));
    input_.dry_run = true;
    ASSERT_TRUE(call(&drain));
    EXPECT_EQ(node_.calls, (Calls{"GPU 0 drained; GPU " + std::string(kUuid1) + " drained", "GPU 0 undrained",
                                  "GPU 0 drained dry-run"}));
    EXPECT_EQ(screen_.out.str(), "GPU 0: it is drained, and takes no new instance.\nGPU " +
                                     std::string(kUuid1) +
                                     ": it is drained, and takes no new instance.\n"
                                     "GPU 0: it takes instances again.\n"
                                     "GPU 0: it could be drained; nothing was changed.\n");
}

TEST_F(Draining, TheNodeIsAllOfItsGpus) {
    node_.snapshot.gpus[1].present = false;
    input_.gpus = {"node"};
    ASSERT_TRUE(call(&drain));
    EXPECT_EQ(node_.calls, (Calls{"GPU 0 drained; GPU " + std::string(kUuid1) + " drained"}));
    node_.snapshot.gpus.clear();
    const auto none = call(&drain);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().text, "node: it has no GPU. Try: cgpuctl doctor, which says more.");
}

TEST_F(Draining, ARefusalSaysThatNoneWasDrained) {
    node_.refusals["GPU 0 drained; GPU 7 drained"] = {Kind::not_found,
                                                      "change 2: GPU \"7\": there is no such GPU. Try: 0."};
    input_.gpus = {"0", "7"};
    const auto refused = call(&drain);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "GPU \"7\": there is no such GPU; none of the GPUs was changed. Try: 0.");
}

TEST_F(Draining, ADrainInJson) {
    input_.json = true;
    input_.gpus = {"0"};
    ASSERT_TRUE(call(&drain));
    EXPECT_EQ(nlohmann::json::parse(screen_.out.str()),
              (nlohmann::json{{"gpu", "0"}, {"drained", true}, {"dry_run", false}}));
    screen_.out.str("");
    input_.gpus = {"node"};
    ASSERT_TRUE(call(&undrain));
    const auto json = nlohmann::json::parse(screen_.out.str());
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[1].at("gpu"), "1");
    EXPECT_EQ(json[1].at("drained"), false);
}

TEST_F(Draining, AWordThatIsNoGpuHasTheOneForAll) {
    for (const char* word : {"nod", "all", "Node"}) {
        input_.gpus = {word};
        const auto refused = call(&drain);
        ASSERT_FALSE(refused) << word;
        EXPECT_EQ(refused.error().kind, Kind::not_found);
        EXPECT_EQ(refused.error().text,
                  "GPU \"" + std::string(word) +
                      "\": there is no such GPU. Try: use node for all GPUs, or name one "
                      "by its index, UUID or PCI address.");
    }
    EXPECT_EQ(node_.calls, Calls{});
}

TEST_F(Pausing, InstancesArePausedAndResumed) {
    input_.instances = {"web", "db"};
    ASSERT_TRUE(call(&pause_verb));
    input_.instances = {"web"};
    input_.gpu = "1";
    ASSERT_TRUE(call(&resume_verb));
    input_.dry_run = true;
    ASSERT_TRUE(call(&pause_verb));
    EXPECT_EQ(node_.calls,
              (Calls{"web [] paused; db [] paused", "web [1] resumed", "web [1] paused dry-run"}));
    EXPECT_EQ(screen_.out.str(),
              "Instance web: it is paused, until it is resumed.\nInstance db: it is paused, until it is "
              "resumed.\nInstance web: it is resumed.\n"
              "Instance web: it could be paused; nothing was changed.\n");
}

TEST_F(Pausing, APauseInJson) {
    input_.instances = {"web"};
    input_.json = true;
    ASSERT_TRUE(call(&pause_verb));
    const auto json = nlohmann::json::parse(screen_.out.str());
    EXPECT_EQ(json.at("instance"), "web");
    EXPECT_EQ(json.at("paused"), true);
}

TEST_F(Pausing, AWeightOfZeroIsAPause) {
    input_.instances = {"web"};
    input_.value = "0";
    ASSERT_TRUE(call(&set_weight));
    EXPECT_EQ(node_.calls, Calls{"web [] weight 0"});
    EXPECT_EQ(screen_.out.str(), "Instance web: it is paused, until it is resumed.\n");
    input_.value = "0%";
    EXPECT_EQ(call(&set_weight).error().kind, Kind::usage);
    input_.value = "5%";
    ASSERT_TRUE(call(&set_weight));
    EXPECT_EQ(node_.calls.back(), "web [] percent 5");
}

TEST_F(DrainedAndPaused, AreShown) {
    node_.snapshot.gpus[0].drained = true;
    node_.snapshot.instances[0].gpus[0].quota.paused = true;
    ASSERT_TRUE(call(&status));
    EXPECT_TRUE(printed("\n0 (drained)  Tesla V100")) << screen_.out.str();
    ASSERT_TRUE(call(&list, {}));
    EXPECT_TRUE(printed("  paused\n")) << screen_.out.str();
    input_.target = "0";
    ASSERT_TRUE(call(&show));
    EXPECT_TRUE(printed("0 (drained: it takes no new instance)\n")) << screen_.out.str();
    input_.target = "web";
    ASSERT_TRUE(call(&show));
    EXPECT_TRUE(printed("paused)\n")) << screen_.out.str();
}

TEST_F(DrainedAndPaused, APauseThatTheDriverIgnoresIsWarnedOf) {
    node_.snapshot.instances[0].gpus[0].quota.paused = true;
    node_.snapshot.gpus[0].policy = 5;
    node_.snapshot.gpus[0].policy_name = "native";
    ASSERT_TRUE(call(&status));
    EXPECT_NE(screen_.err.str().find("it is paused on GPU 0, and computes there all the same"),
              std::string::npos)
        << screen_.err.str();
}

}  // namespace
}  // namespace cgpu::cgpuctl
