#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/config/limits/limit_keys.hpp"
#include "daemon/config/limits/profile_keys.hpp"
#include "daemon/config/slices.hpp"
#include "daemon/config/validate.hpp"
#include "daemon/config/yaml_layer.hpp"
#include "tests/unit/core/support/said_once.hpp"

namespace cgpu::config {
namespace {

Config read(const std::string& text, Problems& problems) {
    const auto entries = read_yaml(text, "test", problems);
    return validate(entries, problems);
}

limits::Rules limits_of(const std::string& text) {
    Problems problems;
    const auto config = read(text, problems);
    EXPECT_TRUE(problems.empty()) << problems.front().text;
    return config.limits;
}

std::string refusal_of(const std::string& text) {
    Problems problems;
    (void)read(text, problems);
    EXPECT_EQ(problems.size(), 1U) << text;
    if (problems.empty()) return {};
    test::expect_said_once(problems.front().text);
    return problems.front().text;
}

TEST(ConfigLimits, AreReadForEachKindOfOwner) {
    const auto rules = limits_of(
        "limits:\n"
        "  default: {instances: 4, memory: 16GiB}\n"
        "  users:\n"
        "    alice.smith: {memory_per_gpu: 8GiB, compute: 50%, priority: true}\n"
        "    1001: {gpus: unlimited, memory: unlimited}\n"
        "  groups:\n"
        "    students: {instances: 2}\n"
        "  containers: {compute: 25}\n"
        "  trust_declared_owners: true\n");
    EXPECT_EQ(rules.others.instances, 4U);
    EXPECT_EQ(rules.others.memory, model::Bytes::from_gib(16));
    const auto& alice = rules.users.at("alice.smith");
    EXPECT_EQ(alice.memory_per_gpu, model::Bytes::from_gib(8));
    EXPECT_EQ(alice.compute, 50U);
    EXPECT_EQ(alice.priority, true);
    EXPECT_FALSE(alice.instances);
    EXPECT_EQ(rules.users.at("1001").gpus, limits::kUnlimited);
    EXPECT_EQ(rules.users.at("1001").memory, limits::kUnlimitedMemory);
    EXPECT_EQ(rules.groups.at("students").instances, 2U);
    EXPECT_EQ(rules.containers.compute, 25U);
    EXPECT_TRUE(rules.trust_declared_owners);
    EXPECT_TRUE(limits_of("limits: {users: {4294967294: {gpus: 1}}}\n").users.contains("4294967294"))
        << "the last that a user can have";
    EXPECT_TRUE(limits_of("limits:\n  users:\n").empty()) << "its lines are commented out";
    EXPECT_TRUE(limits_of("limits:\n").empty());
}

TEST(ConfigLimits, RefuseWhatTheyDontKnow) {
    EXPECT_EQ(
        refusal_of("limits:\n  default: {instance: 2}\n"),
        "test:2: limits.default.instance = \"2\": there is no such limit. Try: use one of instances, gpus, "
        "memory, memory_per_gpu, compute, priority, time, idle.");
    for (const char* text : {"limits:\n  user: {alice: {gpus: 1}}\n",
                             "limits: {default: 3}\n",
                             "limits: {users: {alice: 3}}\n",
                             "limits: {users: {alice: {gpus: -1}}}\n",
                             "limits: {users: {alice: {gpus: 01}}}\n",
                             "limits: {users: {alice: {gpus: 100001}}}\n",
                             "limits: {users: {alice: {memory: 8}}}\n",
                             "limits: {users: {alice: {memory: 08GiB}}}\n",
                             "limits: {users: {alice: {compute: 0%}}}\n",
                             "limits: {users: {alice: {compute: 3%}}}\n",
                             "limits: {users: {alice: {compute: 101%}}}\n",
                             "limits: {users: {alice: {priority: yes}}}\n",
                             "limits: {users: {\" ab\": {gpus: 1}}}\n",
                             "limits: {users: {\"\": {gpus: 1}}}\n",
                             "limits: {users: {0100: {gpus: 1}}}\n",
                             "limits: {users: {4294967295: {gpus: 1}}}\n",
                             "limits: {users: {4294967296: {gpus: 1}}}\n",
                             "limits: {users: {99999999999: {gpus: 1}}}\n",
                             "limits: {groups: {4294967295: {gpus: 1}}}\n",
                             "limits: {users: {-1: {gpus: 1}}}\n",
                             "limits: {groups: {-2: {gpus: 1}}}\n",
                             "limits: {users: {+1000: {gpus: 1}}}\n",
                             "limits: {groups: {\"a:b\": {gpus: 1}}}\n",
                             "limits: {trust_declared_owners: maybe}\n",
                             "limits: {default: {gpus: }}\n",
                             "limits: {users: {alice: {gpus: {most: 1}}}}\n",
                             "limits: 3\n"})
        EXPECT_NE(refusal_of(text), "") << text;
}

std::vector<std::string> odd_ones(const std::string& text) {
    Problems problems;
    const auto entries = read_yaml(text, "test", problems);
    const auto config = validate(entries, problems);
    EXPECT_TRUE(problems.empty()) << problems.front().text;
    std::vector<std::string> texts;
    for (const auto& odd : odd_percentages(config, entries)) texts.push_back(odd.text);
    return texts;
}

TEST(ConfigLimits, BelowASliceAreToldWithTheLeastThatAllowsSomething) {
    EXPECT_EQ(odd_ones("max_inst: 20\nlimits: {groups: {students: {compute: 4%}}}\n"),
              std::vector<std::string>{
                  "test:2: limits.groups.students.compute = \"4%\": it is less than one slice of a GPU with "
                  "max_inst 20, so it allows nothing there. Try: use 5% or more, or a larger max_inst."});
    EXPECT_EQ(odd_ones("max_inst: 25\nlimits: {default: {compute: 4%}}\n").size(), 0U);
    EXPECT_EQ(
        odd_ones("max_inst: 7\nlimits: {default: {compute: 15%}, users: {a: {compute: unlimited}}}\n").size(),
        0U);
    EXPECT_EQ(odd_ones("max_inst: 7\nlimits: {default: {compute: 14%}}\n").size(), 1U);
    EXPECT_EQ(odd_ones("gpus: {0: {max_inst: 1}}\nlimits: {default: {compute: 50%}}\n").size(), 0U)
        << "the others take them";
}

TEST(ConfigProfiles, WithoutWholeSlicesAreTold) {
    EXPECT_EQ(odd_ones("max_inst: 20\nprofiles: {a: {mem: 4GiB, compute: 12%}}\n"),
              std::vector<std::string>{
                  "test:2: profiles.a.compute = \"12%\": it is no whole number of slices of a GPU with "
                  "max_inst 20, so a request with this profile is refused there. Try: use a multiple of a "
                  "slice, or another max_inst."});
    EXPECT_EQ(
        odd_ones("max_inst: 20\nprofiles: {a: {mem: 4GiB, compute: 15%, max: {compute: 77%}}}\n").size(), 0U);
}

TEST(ConfigProfiles, AreReadWithTheirMaxima) {
    Problems problems;
    const auto config = read(
        "profiles:\n"
        "  notebook: {mem: 4GiB, compute: 25%, max: {mem: 8GiB, gpus: 2}}\n"
        "  batch-1: {mem: 512MiB, weight: 3, priority: high, max: {priority: high}}\n"
        "  low: {mem: 1GiB, max: {priority: normal}}\n",
        problems);
    ASSERT_TRUE(problems.empty()) << problems.front().text;
    const auto& notebook = config.profiles.at("notebook");
    EXPECT_EQ(notebook.values.memory, model::Bytes::from_gib(4));
    EXPECT_EQ(notebook.values.percent, 25U);
    EXPECT_EQ(notebook.max.memory, model::Bytes::from_gib(8));
    EXPECT_EQ(notebook.max.gpus, 2U);
    EXPECT_EQ(config.profiles.at("batch-1").values.weight, 3U);
    EXPECT_EQ(config.profiles.at("batch-1").values.high_priority, true);
    EXPECT_EQ(config.profiles.at("low").max.high_priority, false);
    const auto shown = show_profiles(config.profiles);
    ASSERT_EQ(shown.size(), 10U);
    EXPECT_EQ(std::ranges::count(shown, "normal", &ShownValue::value), 1);
    EXPECT_EQ(std::ranges::count(shown, "high", &ShownValue::value), 2);
}

TEST(ConfigProfiles, RefuseMoreThanTheirMaximum) {
    EXPECT_EQ(refusal_of("profiles: {a: {mem: 4GiB, max: {mem: 1GiB}}}\n"),
              "test:1: profiles.a.mem = \"4GiB\": the profile asks for more than its max. Try: raise its "
              "max, or lower "
              "its values.");
}

TEST(ConfigLimits, TakeNamesOfDirectoryServices) {
    const auto rules =
        limits_of("limits: {groups: {domain users: {gpus: 1}}, users: {\"ACME\\\\alice\": {gpus: 1}}}\n");
    EXPECT_TRUE(rules.groups.contains("domain users"));
    EXPECT_TRUE(rules.users.contains("ACME\\alice"));
}

TEST(ConfigLimits, GroupsWithoutKeysAreOnesThatThereAre) {
    for (const char* text :
         {"limits: {}\n", "weights: {}\ngpus:\nprofiles:\n", "limits: {users: {alice: {}}}\n",
          "limits:\n  users:\n    alice:\n  default:\n", "gpus: {0: {}}\n"})
        EXPECT_TRUE(limits_of(text).empty()) << text;
    EXPECT_NE(refusal_of("Limits: {}\n").find("test:1: Limits: there is no such key. Try: use one of policy"),
              std::string::npos);
    EXPECT_EQ(
        refusal_of("limits:\n  Users:\n"),
        "test:2: limits.Users: there is no such key. Try: use one of users, groups, default, containers "
        "and trust_declared_owners.");
    EXPECT_EQ(refusal_of("max_inst:\n"),
              "test:1: max_inst: it has no value. Try: put a value after the colon, "
              "or remove the line.");
    for (const char* text :
         {"limts:\n", "policy: {}\n", "weights:\n  a:\n", "weights: {a: {}}\n", "gpus: {0: {policy: }}\n",
          "gpus: {zero: {}}\n", "limits: {trust_declared_owners: {}}\n", "limits: {default: {gpus: {}}}\n",
          "limits: {users: {\"a:b\": {}}}\n", "limits: {groups: {-1: }}\n",
          "limits: {users: {a: {gpus: }}}\n", "profiles: {a: {}}\n", "profiles: {a: {max: {}}}\n",
          "profiles: {a: {mem: }}\n", "profiles: {a: {mem: 1GiB, min: {}}}\n"})
        EXPECT_NE(refusal_of(text), "") << text;
}

TEST(ConfigProfiles, WithAFaultAreRefusedForThatAlone) {
    for (const char* text :
         {"profiles: {a: {mem: 0}}\n", "profiles: {a: {mem: 4}}\n", "profiles: {a: {MEM: 4GiB, weight: 2}}\n",
          "profiles: {a: {max: {mem: 0}}}\n", "profiles: {a: {mem: , weight: 2}}\n",
          "profiles: {a: {mem: 4GiB, max: {mem: 1GiB, gpus: 0}}}\n"})
        EXPECT_EQ(refusal_of(text).find("no memory. Try: a line"), std::string::npos) << text;
}

TEST(ConfigProfiles, RefuseWhatIsNone) {
    EXPECT_EQ(refusal_of("profiles: {notebook: {compute: 25%}}\n"),
              "test:1: profiles.notebook.compute = \"25%\": the profile has no memory. Try: a line such as "
              "mem: 4GiB "
              "besides.");
    for (const char* text :
         {"profiles: {notebook: 4GiB}\n", "profiles: {notebook: {memory: 4GiB, mem: 4GiB}}\n",
          "profiles: {\"a b\": {mem: 4GiB}}\n", "profiles: {a: {mem: 4GiB, compute: 5%, weight: 1}}\n",
          "profiles: {a: {mem: 4GiB, compute: 0%}}\n", "profiles: {a: {mem: 4GiB, gpus: 17}}\n",
          "profiles: {a: {mem: 4GiB, min: {mem: 1GiB}}}\n", "profiles: {a: {mem: 4GiB, weight: 26}}\n",
          "profiles: {a: {mem: 4GiB, priority: true}}\n", "profiles: {a: {mem: 4GiB, mode: none}}\n",
          "profiles: {a: {mem: 4GiB, priority: high, max: {priority: normal}}}\n"})
        EXPECT_NE(refusal_of(text), "") << text;
}

TEST(ConfigLimits, AreShownByTheirKeys) {
    const auto rules =
        limits_of("limits: {default: {memory: 16GiB, compute: 50%}, users: {bob: {gpus: unlimited}}}\n");
    std::string text;
    for (const auto& [path, value] : show_limits(rules)) {
        for (const auto& part : path) text += part + (&part == &path.back() ? "=" : ".");
        text += value + " ";
    }
    EXPECT_EQ(text,
              "limits.users.bob.gpus=unlimited limits.default.memory=16GiB limits.default.compute=50% ");
}

TEST(ConfigTimes, AreDurations) {
    Problems problems;
    const auto config = read(
        "time: 24h\n"
        "ends_soon: 5m\n"
        "time_grace: 0s\n"
        "idle: 30m\n"
        "limits: {default: {time: 2d}, users: {alice: {time: unlimited}}}\n"
        "profiles: {notebook: {mem: 4GiB, time: 8h, max: {time: 1d12h}}}\n",
        problems);
    EXPECT_TRUE(problems.empty()) << problems.front().text;
    EXPECT_EQ(config.time, 86400U);
    EXPECT_EQ(config.idle, 1800U);
    EXPECT_EQ(config.ends, (ends::Settings{300 * model::kSecond, 0}));
    EXPECT_EQ(config.limits.others.time, 172800U);
    EXPECT_EQ(config.limits.users.at("alice").time, limits::kUnlimitedTime);
    EXPECT_EQ(config.profiles.at("notebook").values.time, 28800U);
    EXPECT_EQ(config.profiles.at("notebook").max.time, 129600U);
    EXPECT_FALSE(read("time: none\n", problems).time);
    for (const char* text : {"time: 24", "time: 0s", "ends_soon: 25h", "time_grace: soon",
                             "limits: {default: {time: 12}}", "profiles: {a: {mem: 1GiB, time: none}}"})
        EXPECT_FALSE(refusal_of(std::string(text) + "\n").empty()) << text;
}

}  // namespace
}  // namespace cgpu::config
