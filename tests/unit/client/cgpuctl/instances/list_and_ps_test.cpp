#include <pwd.h>

#include <nlohmann/json.hpp>

#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

/// web of user 0 on GPU 0; declared, which a container says is alice-of-nowhere's, on GPU 1; a container
/// without a limit.
class Choosing : public VerbTest<ListInput> {
  protected:
    Choosing() {
        node_.snapshot.instances[0].owner = 0;
        client::Instance other = node_.snapshot.instances[0];
        other.id = "fedcba9876543210fedcba9876543210";
        other.name = "declared";
        other.state = "waiting";
        other.owner.reset();
        other.declared_owner = "alice-of-nowhere";
        other.gpus[0].quota.gpu = kUuid1;
        other.gpus[0].quota.gpu_index = 1;
        other.gpus[0].usage.processes = {5001};
        other.pid = 5000;
        node_.snapshot.instances.push_back(other);
        node_.snapshot.unmanaged = {{"aaaabbbbccccdddd", "free", 1, 12, {kUuid1}, {}, false, 0}};
    }

    /// The names in the answer of list --json.
    std::string listed() {
        input_.json = true;
        screen_.out.str("");
        const auto done = call(&list);
        if (!done) return done.error().text;
        std::string names;
        for (const auto& each : nlohmann::json::parse(screen_.out.str()))
            names += (names.empty() ? "" : " ") + each.at("name").get<std::string>();
        input_ = {};
        return names;
    }
    std::string printed(const client::Result<void>& done) {
        std::string text = done ? screen_.out.str() : done.error().text;
        screen_.out.str("");
        return text;
    }
    client::Result<void> call_ps(const std::vector<std::string>& instances = {}) {
        PsInput input;
        static_cast<Choice&>(input) = input_;
        input.instances = instances;
        return call(&ps_verb, input);
    }
};

TEST_F(Choosing, ByGpu) {
    EXPECT_EQ(listed(), "web declared free");
    input_.gpu = "0";
    EXPECT_EQ(listed(), "web");
    input_.gpu = kUuid1;
    EXPECT_EQ(listed(), "declared free");
    input_.gpu = "7";
    EXPECT_EQ(call(&list).error().kind, Kind::not_found);
}

TEST_F(Choosing, ByUser) {
    input_.user = "0";
    EXPECT_EQ(listed(), "web free");
    input_.user = getpwuid(0)->pw_name;
    EXPECT_EQ(listed(), "web free");
    input_.user = "4000000000";
    EXPECT_EQ(listed(), "") << "an id that the system has no name for";
    input_.user = "4294967295";
    EXPECT_EQ(call(&list).error().kind, Kind::usage) << "it stands for nobody";
    input_.user = "alice-of-nowhere";
    EXPECT_EQ(listed(), "declared") << "the system doesn't know this user";
    input_.user = "alice";
    const auto refused = call(&list);
    EXPECT_EQ(refused.error().kind, Kind::usage);
    EXPECT_EQ(refused.error().text,
              "--user \"alice\": the system has no such user, and no container declares it. Try: use one of "
              "alice-of-nowhere, " +
                  std::string(getpwuid(0)->pw_name) + ".");
}

TEST_F(Choosing, UsersOfAnotherMachineAreMeantById) {
    input_.host = "there";
    input_.user = getpwuid(0)->pw_name;
    EXPECT_EQ(call(&list).error().kind, Kind::usage);
    input_.user = "0";
    EXPECT_EQ(listed(), "web free");
    input_.host = "there";
    input_.user = "alice-of-nowhere";
    EXPECT_EQ(listed(), "declared");
}

TEST_F(Choosing, ByState) {
    input_.state = "waiting";
    EXPECT_EQ(listed(), "declared");
    input_.state = "Running";
    EXPECT_EQ(listed(), "web");
    node_.snapshot.instances[0].managed = false;
    input_.state = "unmanaged";
    EXPECT_EQ(listed(), "web free") << "what books its GPUs has no limit either";
    input_.state = "stopped";
    EXPECT_EQ(call(&list).error().text,
              "--state \"stopped\": there is no such state. Try: queued, reserved, waiting, running, paused "
              "or unmanaged.");
}

TEST_F(Choosing, HoldsForTheTableAndForIds) {
    input_.quiet = true;
    input_.gpu = "1";
    EXPECT_EQ(printed(call(&list)), "fedcba9876543210fedcba9876543210\n");
    input_.state = "unmanaged";
    EXPECT_EQ(printed(call(&list)), "aaaabbbbccccdddd\n");
    input_ = {};
    client::OnGpu second = node_.snapshot.instances[1].gpus[0];
    node_.snapshot.instances[0].gpus.push_back(second);
    input_.gpu = "1";
    input_.no_legend = true;
    const std::string table = printed(call(&list));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
    EXPECT_EQ(table.find("  0    "), std::string::npos) << "the other GPU's row of web\n" << table;
}

TEST_F(Choosing, KeptSettingsAreNotChosen) {
    input_.kept = true;
    input_.user = "0";
    EXPECT_EQ(call(&list).error().kind, Kind::usage);
}

TEST_F(Choosing, ProcessesHaveALineForEachGpu) {
    auto& web = node_.snapshot.instances[0];
    web.processes = {{4711, 0, "py\x1bthon3"}, {4712, std::nullopt, ""}};
    web.gpus[0].usage.memory_of_processes = {{4711, 100 * kMib}};
    web.gpus[0].usage.processes_outside = {4713};
    const std::string root = getpwuid(0)->pw_name;
    EXPECT_EQ(printed(call_ps()),
              "PID   USER  INSTANCE  GPU  MEMORY  COMMAND\n"
              "4711  " +
                  root +
                  "  web       0    100MiB  py?thon3\n"
                  "4712  -     web       0    -       -\n"
                  "4713  -     web       0    -       - (outside the module)\n"
                  "5000  -     declared  -    -       -\n"
                  "5001  -     declared  1    -       -\n");
    input_.no_legend = true;
    input_.gpu = "1";
    EXPECT_EQ(printed(call_ps()), "5001  -  declared  1  -  -\n") << "only what is on it";
    input_.gpu.clear();
    EXPECT_EQ(printed(call_ps({"declared"})), "5000  -  declared  -  -  -\n5001  -  declared  1  -  -\n");
    EXPECT_EQ(call_ps({"nobody"}).error().kind, Kind::not_found);
}

TEST_F(Choosing, ProcessesAsJson) {
    auto& web = node_.snapshot.instances[0];
    web.processes = {{4711, 0, "python3"}};
    web.gpus[0].usage.memory_of_processes = {{4711, 100 * kMib}};
    web.gpus[0].usage.processes = {4711};
    web.gpus[0].usage.processes_outside = {4713};
    input_.json = true;
    const auto all = nlohmann::json::parse(printed(call_ps({"web", kWebId})));
    ASSERT_EQ(all.size(), 2U) << "each instance once";
    EXPECT_EQ(all[0], (nlohmann::json{{"pid", 4711},
                                      {"uid", 0},
                                      {"command", "python3"},
                                      {"instance", kWebId},
                                      {"name", "web"},
                                      {"uuid", kUuid0},
                                      {"index", 0},
                                      {"memory_used_bytes", 100 * kMib},
                                      {"outside", false}}));
    EXPECT_EQ(all[1]["outside"], true);
    EXPECT_EQ(all[1]["uid"], nullptr);
    EXPECT_EQ(all[1]["memory_used_bytes"], nullptr);
}

}  // namespace
}  // namespace cgpu::cgpuctl
