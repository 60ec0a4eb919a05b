#include "daemon/configuration_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/config/origins.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// What is in force of the configuration, where it comes from, and what would put the rest in force.
namespace cgpu {
namespace {

using app::ConfigurationValue;
using app::ConfigurationValues;
using test::TempFolder;
using test::write_text;

class ConfigurationView : public testing::Test {
  protected:
    ConfigurationView() {
        model::SeenGpu gpu;
        gpu.uuid = *model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000001");
        gpu.total = model::Bytes::from_mib(16130);
        uuid_ = gpu.uuid;
        EXPECT_TRUE(node_.sync_gpus({{gpu, model::GpuSettings{}}}));
        write_text(folder_ / "usr.yaml",
                   "policy: proportional\nmax_inst: 20\nslice_ms: 5\ndefault_memory: 0\n");
    }

    config::Loaded read() const {
        auto loaded = config::load({folder_ / "usr.yaml", folder_ / "etc.yaml", folder_ / "etc.d", {}, {}});
        EXPECT_TRUE(loaded) << loaded.error().front().text;
        return loaded.value_or(config::Loaded{});
    }
    /// A reload of what the files say now.
    ConfigurationValues reload() {
        last_ = read();
        return configuration_values({start_, last_, node_, switched_});
    }
    std::string path(const char* file) const { return (folder_ / file).string(); }

    static ConfigurationValue of(const ConfigurationValues& values, std::string_view key) {
        const auto found = std::ranges::find(values, key, &ConfigurationValue::key);
        EXPECT_NE(found, values.end()) << key;
        return found == values.end() ? ConfigurationValue{} : *found;
    }

    TempFolder folder_;
    model::Node node_;
    model::Uuid uuid_;
    std::optional<model::Mode> switched_;
    config::Loaded start_;
    config::Loaded last_;
};

TEST_F(ConfigurationView, SaysTheFileAndLineOfEachValue) {
    write_text(folder_ / "etc.yaml", "# mine\nplacement: spread\nweights:\n  trainer: 4\n");
    write_text(folder_ / "etc.d/10.yaml", "default_memory: 4GiB\n");
    start_ = read();
    const auto values = reload();
    EXPECT_EQ(of(values, "placement"),
              (ConfigurationValue{"placement", "spread", path("etc.yaml") + ":2", {}, {}, {}}));
    EXPECT_EQ(of(values, "weights.trainer").source, path("etc.yaml") + ":4");
    EXPECT_EQ(of(values, "default_memory").value, "4096MiB");
    EXPECT_EQ(of(values, "default_memory").source, path("etc.d/10.yaml") + ":1");
    EXPECT_EQ(of(values, "policy").source, path("usr.yaml") + ":1");
    EXPECT_EQ(of(values, "log_level"), (ConfigurationValue{"log_level", "info", "built in", {}, {}, {}}));
    EXPECT_EQ(of(values, "gpus.0.policy").source, path("usr.yaml") + ":1");
    for (const auto& value : values) EXPECT_EQ(value.configured, "") << value.key;
}

TEST_F(ConfigurationView, AGpusOwnLineIsItsSource) {
    start_ = read();
    write_text(folder_ / "etc.yaml", "gpus:\n  0:\n    policy: proportional\n    max_inst: 20\n  " +
                                         uuid_.to_string() + ":\n    max_inst: 20\n");
    const auto values = reload();
    EXPECT_EQ(of(values, "gpus.0.policy").source, path("etc.yaml") + ":3") << "by index";
    EXPECT_EQ(of(values, "gpus.0.max_inst").source, path("etc.yaml") + ":6") << "by UUID, which wins";
    EXPECT_EQ(of(values, "gpus.0.prio_ratio").source, "built in") << "of all GPUs";
}

TEST_F(ConfigurationView, WhatWasSetForAGpuComesFromTheState) {
    start_ = read();
    ASSERT_TRUE(node_.set_policy(uuid_, model::Policy::weighted));
    EXPECT_EQ(of(reload(), "gpus.0.policy"),
              (ConfigurationValue{"gpus.0.policy", "weighted", "state", "proportional",
                                  path("usr.yaml") + ":1", "cgpuctl revert 0"}));
    ASSERT_EQ(node_.set_default_memory(model::Bytes::from_mib(512)), model::Change::changed);
    EXPECT_EQ(of(reload(), "default_memory"),
              (ConfigurationValue{"default_memory", "512MiB", "state", "0", path("usr.yaml") + ":4",
                                  "cgpuctl revert default-memory"}));
}

TEST_F(ConfigurationView, TheSwitchedModeHoldsOnEveryGpu) {
    start_ = read();
    switched_ = model::Mode::memory;
    const auto values = reload();
    for (const char* key : {"mode", "gpus.0.mode"})
        EXPECT_EQ(of(values, key), (ConfigurationValue{key, "memory", "state", "memory+compute", "built in",
                                                       "cgpuctl set-mode configured"}));
}

TEST_F(ConfigurationView, WhatHoldsUntilTheRebootIsNamedAsThat) {
    start_ = read();
    ASSERT_TRUE(node_.set_policy(uuid_, model::Policy::weighted, model::Lasts::until_reboot));
    ASSERT_TRUE(node_.set_max_inst(uuid_, 10));
    ASSERT_EQ(node_.set_default_memory(model::Bytes::from_mib(512), model::Lasts::until_reboot),
              model::Change::changed);
    auto values = reload();
    EXPECT_EQ(of(values, "gpus.0.policy").source, "runtime");
    EXPECT_EQ(of(values, "gpus.0.policy").remedy, "cgpuctl revert 0");
    EXPECT_EQ(of(values, "gpus.0.max_inst").source, "state") << "set for good";
    EXPECT_EQ(of(values, "gpus.0.prio_ratio").source, "built in");
    EXPECT_EQ(of(values, "default_memory").source, "runtime");
    // What the files say is in force, but something else after the reboot.
    ASSERT_TRUE(node_.set_policy(uuid_, model::Policy::weighted));
    ASSERT_TRUE(node_.set_policy(uuid_, model::Policy::proportional, model::Lasts::until_reboot));
    EXPECT_EQ(of(reload(), "gpus.0.policy"),
              (ConfigurationValue{"gpus.0.policy", "proportional", "runtime", {}, {}, {}}));
}

TEST_F(ConfigurationView, SomeValuesHoldUntilTheNextStart) {
    start_ = read();
    write_text(folder_ / "etc.yaml", "slice_ms: 9\nno_weight: refuse\n");
    const auto values = reload();
    EXPECT_EQ(of(values, "slice_ms"),
              (ConfigurationValue{"slice_ms", "5", path("usr.yaml") + ":3", "9", path("etc.yaml") + ":1",
                                  "systemctl restart cgpud"}));
    EXPECT_EQ(of(values, "no_weight").value, "refuse");
    EXPECT_EQ(of(values, "no_weight").configured, "");
}

TEST_F(ConfigurationView, AReloadNamesWhatItDidNotPutInForceAndNothingElse) {
    start_ = read();
    ASSERT_TRUE(node_.set_max_inst(uuid_, 10));
    const auto before = reload();
    EXPECT_TRUE(not_put_in_force(before, reload()).empty())
        << "max_inst was set by a call, not by the reload";
    write_text(folder_ / "etc.yaml", "slice_ms: 9\npolicy: weighted\nmax_inst: 12\nmode: memory\n");
    const auto lines = not_put_in_force(before, reload());
    const std::string file = path("etc.yaml");
    EXPECT_EQ(lines,
              (std::vector<std::string>{
                  "slice_ms: " + file + ":1 says 9, and 5 stays in force. Try: systemctl restart cgpud.",
                  "gpus.0.policy: " + file +
                      ":2 says weighted, and proportional stays in force. Try: cgpuctl "
                      "revert 0.",
                  "gpus.0.max_inst: " + file + ":3 says 12, and 10 stays in force. Try: cgpuctl revert 0."}));
}

TEST_F(ConfigurationView, AbsentGpusHaveNoIndexAndAreLeftOut) {
    start_ = read();
    ASSERT_EQ(node_.lose_driver("gone"), model::Change::changed);
    const auto values = reload();
    EXPECT_EQ(std::ranges::count_if(values, [](const auto& value) { return value.key.starts_with("gpus."); }),
              0);
}

TEST_F(ConfigurationView, WhatTheInstancesDontAllowWaitsForThem) {
    start_ = read();
    write_text(folder_ / "etc.yaml", "max_inst: 10\n");
    const auto value = of(reload(), "gpus.0.max_inst");
    EXPECT_EQ(value.value, "20");
    EXPECT_EQ(value.configured, "10");
    EXPECT_EQ(value.remedy, "end instances on GPU 0 or lower their weights; cgpud takes the value then");
}

TEST_F(ConfigurationView, AGpuThatTheNodeHasntIsNamed) {
    start_ = read();
    write_text(folder_ / "etc.yaml", "gpus:\n  0:\n    policy: proportional\n  7:\n    policy: fixed\n");
    const auto values = reload();
    EXPECT_EQ(of(values, "gpus.7.policy"),
              (ConfigurationValue{"gpus.7.policy", "", "no such GPU", "fixed", path("etc.yaml") + ":5",
                                  "name a GPU that cgpuctl status shows"}));
    const auto lines = not_put_in_force({}, values);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0],
              "gpus.7.policy: " + path("etc.yaml") +
                  ":5 says fixed, and this node has no such GPU. Try: name a GPU that cgpuctl status "
                  "shows.");
    const auto problems = config::unknown_gpus(last_.entries, node_.gpus());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text, path("etc.yaml") +
                                    ":5: gpus.7: this node has no such GPU. Try: name one that it "
                                    "has by its index or UUID: 0.");
    EXPECT_TRUE(config::unknown_gpus(last_.entries, {}).empty()) << "the driver has shown none yet";
}

TEST_F(ConfigurationView, TheGpusOfTheNodeInWords) {
    const auto gpus = config::read_gpus({"3=" + uuid_.to_string()});
    ASSERT_TRUE(gpus);
    EXPECT_EQ(gpus->at(0).index, 3U);
    EXPECT_EQ(gpus->at(0).uuid, uuid_);
    for (const std::string& word :
         {std::string("3"), std::string("=3"), "x=" + uuid_.to_string(), std::string("3=GPU-1")})
        EXPECT_FALSE(config::read_gpus({word})) << word;
}

}  // namespace
}  // namespace cgpu
