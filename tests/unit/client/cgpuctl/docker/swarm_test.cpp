#include <gtest/gtest.h>

#include "client/cgpuctl/docker/swarm.hpp"
#include "client/cgpuctl/docker/swarm_resources.hpp"
#include "tests/unit/client/support/temp_root.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

constexpr const char* kOthers =
    "{\n  \"log-level\": \"warn\",\n  \"node-generic-resources\": [\n    \"ssd=2\"\n  ],\n  \"debug\": "
    "true\n}\n";

class Swarm : public VerbTest<SwarmInput> {
  protected:
    Swarm() { input_.file = file_; }
    [[nodiscard]] std::string text() const {
        std::ifstream stream(file_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    [[nodiscard]] OrderedJson announced() const {
        return OrderedJson::parse(text()).value("node-generic-resources", OrderedJson());
    }
    void put(const std::string& text) const { folder_.file("/docker/daemon.json", text); }

    client::TempRoot folder_;
    std::string file_ = folder_.at("/docker/daemon.json");
};

TEST_F(Swarm, AnnouncesTheSumOfTheGpusThatTakeInstances) {
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(announced(), OrderedJson({"cgpu_memory_mib=32260", "cgpu_instances=40"}));
    EXPECT_NE(screen_.out.str().find("cgpu_memory_mib=32260 and cgpu_instances=40"), std::string::npos);
    node_.snapshot.gpus[0].max_inst = 25;
    node_.snapshot.gpus[1].obstacle = "MIG is on";
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(announced(), OrderedJson({"cgpu_memory_mib=16130", "cgpu_instances=25"}));
    node_.snapshot.gpus[1].obstacle.clear();
    node_.snapshot.gpus[0].present = false;
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(announced(), OrderedJson({"cgpu_memory_mib=16130", "cgpu_instances=20"}));
}

TEST_F(Swarm, OtherResourcesKeysAndTheirOrderStay) {
    put(kOthers);
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(announced(), OrderedJson({"ssd=2", "cgpu_memory_mib=32260", "cgpu_instances=40"}));
    const std::string once = text();
    EXPECT_TRUE(once.starts_with("{\n  \"log-level\": \"warn\",\n  \"node-generic-resources\"")) << once;
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(text(), once);
    EXPECT_NE(screen_.out.str().find("; nothing was changed."), std::string::npos) << screen_.out.str();
    node_.snapshot.gpus.pop_back();
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(announced(), OrderedJson({"ssd=2", "cgpu_memory_mib=16130", "cgpu_instances=20"}));
    input_.remove = true;
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(text(), kOthers);
}

TEST_F(Swarm, WhatAnAdministratorWroteIsReplacedOnlyWhereItSaysSomethingElse) {
    const std::string by_hand =
        R"({"node-generic-resources": [" cgpu_instances = 40", "cgpu_memory_mib=32260"]})";
    put(by_hand);
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(text(), by_hand);
    for (const char* wrong :
         {R"(["cgpu_memory_mib=32260"])", R"(["cgpu_memory_mib=GPU-0", "cgpu_instances=40"])",
          R"(["cgpu_memory_mib=32260", "cgpu_instances=40", "cgpu_instances=40"])"}) {
        put("{\"node-generic-resources\": " + std::string(wrong) + "}");
        ASSERT_TRUE(call(&swarm));
        EXPECT_EQ(announced(), OrderedJson({"cgpu_memory_mib=32260", "cgpu_instances=40"})) << wrong;
    }
}

TEST_F(Swarm, RemoveAsksNoDaemonAndLeavesNoEmptyList) {
    ASSERT_TRUE(call(&swarm));
    node_.answer = client::fail(Kind::unreachable, "cgpud: it does not answer. Try: systemctl start cgpud.");
    input_.remove = true;
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(OrderedJson::parse(text()), OrderedJson::object());
    EXPECT_NE(screen_.out.str().find("announces nothing of cgpu's"), std::string::npos) << screen_.out.str();
    input_.remove = false;
    const auto done = call(&swarm);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Kind::unreachable);
}

TEST_F(Swarm, ADryRunChangesNothing) {
    put(kOthers);
    input_.dry_run = true;
    ASSERT_TRUE(call(&swarm));
    EXPECT_EQ(text(), kOthers);
    EXPECT_NE(
        screen_.out.str().find("it would be changed, so that this node announces cgpu_memory_mib=32260"),
        std::string::npos)
        << screen_.out.str();
    input_.dry_run = false;
    ASSERT_TRUE(call(&swarm));
    screen_.out.str("");
    input_.dry_run = true;
    ASSERT_TRUE(call(&swarm));
    EXPECT_NE(screen_.out.str().find("nothing would change."), std::string::npos) << screen_.out.str();
}

TEST_F(Swarm, RefusalsSayWhatToDoAndLeaveTheFile) {
    const auto expect_refused = [&](Kind kind, const char* remedy) {
        const std::string before = text();
        const auto done = call(&swarm);
        ASSERT_FALSE(done) << remedy;
        EXPECT_EQ(done.error().kind, kind) << done.error().text;
        EXPECT_NE(done.error().text.find(remedy), std::string::npos) << done.error().text;
        EXPECT_EQ(text(), before);
    };
    put("{\n  \"a\": 1,\n}\n");
    expect_refused(Kind::failed, "Try: mend it by hand");
    put(R"({"node-generic-resources": "cgpu_memory_mib=1"})");
    expect_refused(Kind::refused, "Try: mend it by hand");
    put("{}");
    for (client::Gpu& gpu : node_.snapshot.gpus) gpu.obstacle = "MIG is on";
    expect_refused(Kind::refused, "Try: cgpuctl doctor");
}

}  // namespace
}  // namespace cgpu::cgpuctl
