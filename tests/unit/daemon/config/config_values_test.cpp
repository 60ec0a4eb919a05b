#include <gtest/gtest.h>

#include "daemon/config/validate.hpp"
#include "tests/unit/core/support/said_once.hpp"

/// Every key: the values that it accepts and refuses.
namespace cgpu::config {
namespace {

std::string refusal_of(std::vector<std::string> path, const std::string& value) {
    Problems problems;
    (void)validate({{std::move(path), value, {"test", 1}}}, problems);
    EXPECT_EQ(problems.size(), 1U) << value;
    if (problems.empty()) return "";
    test::expect_said_once(problems.front().text);
    return problems.front().text;
}

Config with(std::vector<std::string> path, const std::string& value) {
    Problems problems;
    Config config = validate({{std::move(path), value, {"test", 1}}}, problems);
    EXPECT_TRUE(problems.empty()) << problems.front().text;
    return config;
}

TEST(ConfigValues, GpuDefaults) {
    EXPECT_EQ(with({"policy"}, "3").gpu_defaults.policy, model::Policy::fixed);
    EXPECT_EQ(with({"policy"}, "soft").gpu_defaults.policy, model::Policy::soft);
    EXPECT_EQ(with({"max_inst"}, "25").gpu_defaults.max_inst, 25U);
    EXPECT_EQ(with({"prio_ratio"}, "99").gpu_defaults.prio_ratio, 99U);
    EXPECT_EQ(with({"mode"}, "memory").gpu_defaults.mode, model::Mode::memory);
}

TEST(ConfigValues, NewInstances) {
    EXPECT_EQ(with({"default_memory"}, "4GiB").admission.default_memory, model::Bytes::from_gib(4));
    EXPECT_EQ(with({"default_memory"}, "0").admission.default_memory, model::Bytes());
    EXPECT_EQ(with({"default_weight"}, "2").admission.default_weight, 2U);
    EXPECT_EQ(with({"placement"}, "spread").admission.placement, admission::Placement::spread);
    EXPECT_EQ(with({"no_weight"}, "refuse").admission.no_weight, admission::NoWeight::refuse);
    EXPECT_EQ(with({"weights", "trainer"}, "7").admission.weights.at("trainer"), 7U);
}

TEST(ConfigValues, EnforcementAndDaemon) {
    EXPECT_EQ(with({"unknown_variables"}, "warn").unknown_variables, request::UnknownNames::warn);
    EXPECT_EQ(with({"slice_ms"}, "100").slice_ms, 100U);
    EXPECT_EQ(with({"on_daemon_loss"}, "closed").on_daemon_loss, OnDaemonLoss::closed);
    EXPECT_EQ(with({"lease_chunk_mib"}, "2").lease_chunk_mib, 2U);
    EXPECT_EQ(with({"context_estimate_mib"}, "512").context_estimate_mib, 512U);
    EXPECT_EQ(with({"on_escape"}, "report").on_escape, OnEscape::report);
    EXPECT_EQ(with({"on_escape"}, "refuse").on_escape, OnEscape::refuse);
    EXPECT_EQ(with({"on_escape"}, "kill").on_escape, OnEscape::kill);
    EXPECT_EQ(with({"on_compute_escape"}, "report").on_compute_escape, OnComputeEscape::report);
    EXPECT_EQ(with({"escape_gap_mib"}, "128").escape_gap_mib, 128U);
    EXPECT_EQ(with({"history_mib"}, "0").history_mib, 0U);
    EXPECT_EQ(with({"history_interval_s"}, "5").history_interval_s, 5U);
    EXPECT_EQ(with({"log_level"}, "warning").log_level, "warning");
    EXPECT_EQ(with({"state_dir"}, "/srv/a").state_dir, "/srv/a");
    EXPECT_EQ(with({"runtime_dir"}, "/srv/b").runtime_dir, "/srv/b");
    EXPECT_EQ(with({"module_dir"}, "/srv/c").module_dir, "/srv/c");
}

TEST(ConfigValues, WrongOnesAreRefusedWithWhatIsAllowed) {
    struct Case {
        const char* key;
        std::vector<const char*> values;
        const char* allowed;
    };
    const std::vector<Case> cases = {
        {"policy",
         {"7", "-1", "", "best"},
         "fair-share, preemptive, weighted, fixed, soft, native or proportional"},
        {"max_inst",
         {"0", "26", "", "x", "1.5", "-1", "+1", " 5", "0x5", "99999999999999999999"},
         "from 1 to 25"},
        {"prio_ratio", {"19", "100"}, "from 20 to 99"},
        {"mode", {"compute", "all", ""}, "none, memory or memory+compute"},
        {"default_memory", {"4", "x", "1500KiB", "-1GiB", "", "04GiB", "00"}, "4GiB or 512MiB, or 0"},
        {"default_weight", {"0", "26"}, "from 1 to 25"},
        {"placement", {"pack", ""}, "binpack or spread"},
        {"no_weight", {"yes"}, "warn or refuse"},
        {"unknown_variables", {"", "ignore"}, "refuse or warn"},
        {"slice_ms", {"0", "101", "5ms"}, "from 1 to 100"},
        {"on_daemon_loss", {"true"}, "open or closed"},
        {"lease_chunk_mib", {"0", "3", "1026"}, "an even number from 2 to 1024"},
        {"context_estimate_mib", {"0", "4097"}, "from 1 to 4096"},
        {"on_escape", {"", "ignore", "Kill"}, "report, refuse or kill"},
        {"on_compute_escape", {"", "refuse", "kill", "Report"}, "report"},
        {"history_mib", {"-1", "4097", "32MiB"}, "from 0 to 4096"},
        {"history_interval_s", {"0", "3601", "1min"}, "from 1 to 3600"},
        {"escape_gap_mib", {"0", "1", "65537", "1GiB"}, "from 2 to 65536"},
        {"log_level", {"loud", ""}, "trace, debug, info, warning or error"},
        {"state_dir", {"relative", "", "~/x"}, "an absolute path"},
    };
    for (const Case& wrong : cases)
        for (const char* value : wrong.values) {
            const std::string text = refusal_of({wrong.key}, value);
            EXPECT_TRUE(text.starts_with("test:1: " + std::string(wrong.key) + " = \"" + value + "\": "))
                << text;
            EXPECT_NE(text.find(wrong.allowed), std::string::npos) << text;
        }
}

TEST(ConfigValues, KeysInTheWrongPlaceAreRefused) {
    EXPECT_NE(refusal_of({"max_inst", "a"}, "1").find("a single value"), std::string::npos);
    EXPECT_NE(refusal_of({"weights"}, "1").find("each container's name has a weight"), std::string::npos);
    EXPECT_NE(refusal_of({"weights", "a", "b"}, "1").find("each container's name has a weight"),
              std::string::npos);
    EXPECT_NE(refusal_of({"weights", "a"}, "26").find("from 1 to 25"), std::string::npos);
    EXPECT_NE(refusal_of({"gpus"}, "1").find("by GPU"), std::string::npos);
    EXPECT_NE(refusal_of({"gpus", "0"}, "1").find("by GPU"), std::string::npos);
    EXPECT_NE(refusal_of({"gpus", "first", "mode"}, "none").find("neither an index nor a UUID"),
              std::string::npos);
    EXPECT_NE(refusal_of({"gpus", "0", "slice_ms"}, "5").find("one of policy, max_inst, prio_ratio, mode"),
              std::string::npos);
    EXPECT_NE(refusal_of({"gpus", "0", "max_inst"}, "0").find("gpus.0.max_inst"), std::string::npos);
    EXPECT_NE(refusal_of({"x\x1b"}, "1").find("\\x1b"), std::string::npos);
}

TEST(ConfigValues, OddNamesAreQuotedHoweverLongTheyAre) {
    for (std::size_t length = 1; length < 200; ++length)
        for (const char c : refusal_of({'\x1d' + std::string(length, 'a')}, "1"))
            ASSERT_TRUE(c >= 0x20 && c < 0x7f) << length;
}

/// YAML 1.1 and 1.2 read it as different numbers, so nobody can tell which one is meant.
TEST(ConfigValues, ANumberHasOneSpelling) {
    for (const char* key : {"max_inst", "default_weight", "slice_ms", "history_mib", "escape_gap_mib"}) {
        EXPECT_NE(
            refusal_of({key}, "012").find("it begins with a zero, by which YAML may mean an octal number"),
            std::string::npos);
        for (const char* value : {"0x0c", "0o14", "1_0", "+12", "12.0", "1e1", "1,0", "12 ", "\xd9\xa1"})
            EXPECT_NE(refusal_of({key}, value).find("it is not a whole number"), std::string::npos) << value;
    }
    EXPECT_NE(refusal_of({"weights", "a"}, "04").find("it begins with a zero"), std::string::npos);
    for (const char* value : {"00", "03", "3.0"}) (void)refusal_of({"policy"}, value);
    EXPECT_EQ(with({"history_mib"}, "0").history_mib, 0U);
}

Problems problems_of(const std::vector<Entry>& entries) {
    Problems problems;
    (void)validate(entries, problems);
    return problems;
}

TEST(ConfigValues, AGpuHasOneNameInAFile) {
    for (const char* name : {"00", "01", "0x1", "+1", "1.0"})
        (void)refusal_of({"gpus", name, "policy"}, "fixed");
    EXPECT_NE(refusal_of({"gpus", "00", "policy"}, "fixed").find("is an index with a zero before it"),
              std::string::npos);
    const std::string small = "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af";
    const std::string large = "GPU-C09D11F5-a565-1f83-903c-a65a7ba138af";
    const auto twice = problems_of({{{"gpus", small, "policy"}, "fixed", {"f", 1}},
                                    {{"gpus", small, "max_inst"}, "4", {"f", 2}},
                                    {{"gpus", large, "policy"}, "soft", {"f", 4}}});
    ASSERT_EQ(twice.size(), 1U);
    EXPECT_NE(twice[0].text.find("f:4: gpus." + large +
                                 ".policy = \"soft\": it is the GPU that this file has "
                                 "as \"" +
                                 small + "\", too. Try: put "),
              std::string::npos)
        << twice[0].text;
    EXPECT_TRUE(problems_of({{{"gpus", small, "policy"}, "fixed", {"f", 1}},
                             {{"gpus", large, "policy"}, "soft", {"g", 1}}})
                    .empty())
        << "a later file wins";
}

TEST(ConfigValues, AContainersNameIsText) {
    for (const auto& name : {std::string("a\0b", 3), std::string("a\xff")})
        EXPECT_NE(refusal_of({"weights", name}, "4").find("no container has such a name"), std::string::npos);
    EXPECT_EQ(with({"weights", "ü"}, "4").admission.weights.size(), 1U);
}

TEST(ConfigValues, AGpusOwnSettingsLieOverTheDefaultsAndItsUuidOverItsIndex) {
    const model::SeenGpu gpu{
        model::Uuid::parse("GPU-c09d11f5-a565-1f83-903c-a65a7ba138af").value(), 1, "", {}, ""};
    Problems problems;
    const Config config = validate({{{"gpus", gpu.uuid.to_string(), "max_inst"}, "9", {}},
                                    {{"gpus", "1", "max_inst"}, "8", {}},
                                    {{"gpus", "1", "policy"}, "native", {}},
                                    {{"gpus", "0", "mode"}, "none", {}},
                                    {{"prio_ratio"}, "30", {}}},
                                   problems);
    ASSERT_TRUE(problems.empty()) << problems.front().text;
    const model::GpuSettings settings = config.settings_for(gpu);
    EXPECT_EQ(settings.max_inst, 9U);
    EXPECT_EQ(settings.policy, model::Policy::native);
    EXPECT_EQ(settings.prio_ratio, 30U);
    EXPECT_EQ(settings.mode, model::Mode::memory_compute);
}

}  // namespace
}  // namespace cgpu::config
