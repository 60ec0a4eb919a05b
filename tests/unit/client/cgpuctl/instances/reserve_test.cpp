#include "client/cgpuctl/queue/reserve.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

class ReserveTest : public VerbTest<ReserveInput> {
  protected:
    ReserveTest() {
        input_.memory = "4GiB";
        node_.grant->quotas = {{.gpu = "GPU-1", .gpu_index = 1, .memory_limit = 4ULL << 30U, .weight = 2}};
    }
};

TEST_F(ReserveTest, PrintsNothingButTheToken) {
    ASSERT_TRUE(call(&reserve_verb));
    ASSERT_TRUE(node_.held);
    EXPECT_EQ(node_.held->token.size(), 32U);
    EXPECT_EQ(node_.held->seconds, 600U);
    EXPECT_EQ(screen_.out.str(), node_.held->token + "\n");
    EXPECT_NE(screen_.err.str().find("GPU 1 (GPU-1): memory 4096MiB, weight 2."), std::string::npos);
    EXPECT_NE(screen_.err.str().find("held for 10m"), std::string::npos);
    EXPECT_EQ(screen_.err.str().find(node_.held->token), std::string::npos)
        << "logs keep what is written there";
}

TEST_F(ReserveTest, EachHasItsOwnToken) {
    ASSERT_TRUE(call(&reserve_verb));
    const auto first = node_.held->token;
    ASSERT_TRUE(call(&reserve_verb));
    EXPECT_NE(node_.held->token, first);
}

TEST_F(ReserveTest, HoldsItAsLongAsIsSaid) {
    input_.hold = "2h";
    input_.json = true;
    ASSERT_TRUE(call(&reserve_verb));
    EXPECT_EQ(node_.held->seconds, 7200U);
    const auto json = Json::parse(screen_.out.str());
    EXPECT_EQ(json["token"], node_.held->token);
    EXPECT_EQ(json["hold_seconds"], 7200);
    EXPECT_EQ(json["gpus"][0]["index"], 1);
    input_.hold = "soon";
    EXPECT_EQ(call(&reserve_verb).error().kind, Kind::usage);
}

TEST_F(ReserveTest, ADryRunHasNoToken) {
    input_.dry_run = true;
    ASSERT_TRUE(call(&reserve_verb));
    EXPECT_EQ(screen_.out.str(),
              "GPU 1 (GPU-1): memory 4096MiB, weight 2; would be held, nothing was changed.\n");
}

TEST_F(ReserveTest, NothingIsHeldWhereNothingIsManaged) {
    node_.grant->quotas.clear();
    EXPECT_EQ(call(&reserve_verb).error().kind, Kind::refused);
    input_.memory.clear();
    EXPECT_EQ(call(&reserve_verb).error().kind, Kind::usage) << "nothing is asked for";
}

TEST_F(ReserveTest, ATokenThatNobodyHasIsGivenBack) {
    screen_.out.setstate(std::ios::badbit);
    const auto written = call(&reserve_verb);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, Kind::failed);
    EXPECT_NE(written.error().text.find("the part is given back"), std::string::npos);
    ASSERT_EQ(node_.calls.size(), 2U);
    EXPECT_TRUE(node_.calls[1].starts_with("release_instance ")) << node_.calls[1];
}

TEST_F(ReserveTest, StopChoosesNothingByItself) {
    client::Instance held;
    held.id = "abc";
    held.name = "same";
    held.state = "reserved";
    node_.snapshot.instances = {held};
    client::Queued queued;
    queued.id = "def";
    queued.name = "same";
    node_.snapshot.queue = {queued};
    StopInput stop;
    stop.instances = {"same"};
    const auto several = call(&stop_verb, stop);
    ASSERT_FALSE(several);
    EXPECT_NE(several.error().text.find("several are meant by it: abc, def (queued)"), std::string::npos)
        << several.error().text;
    EXPECT_TRUE(node_.calls.empty());
    stop.instances = {"def"};
    ASSERT_TRUE(call(&stop_verb, stop));
    EXPECT_EQ(node_.calls, std::vector<std::string>{"release_instance def"});
}

TEST_F(ReserveTest, StopGivesItBack) {
    client::Instance held;
    held.id = "abc";
    held.name = "part";
    held.state = "reserved";
    node_.snapshot.instances = {held};
    StopInput stop;
    stop.instances = {"part"};
    stop.dry_run = true;
    ASSERT_TRUE(call(&stop_verb, stop));
    EXPECT_TRUE(node_.calls.empty());
    stop.dry_run = false;
    ASSERT_TRUE(call(&stop_verb, stop));
    EXPECT_EQ(node_.calls, std::vector<std::string>{"release_instance abc"});
    EXPECT_NE(screen_.out.str().find("part: the reservation is given back."), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl
