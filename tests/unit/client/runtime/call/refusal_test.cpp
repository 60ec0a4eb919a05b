#include "client/runtime/call/refusal.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

/// How many files and folders it has.
auto files(const client::TempRoot& folder) {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

TEST(ReportRefusal, IsOneMoreLineOfTheLogThatEnginesRead) {
    const client::TempRoot folder;
    folder.file("/log.json", "{\"level\":\"info\"}\n");
    Invocation invocation;
    invocation.log = folder.at("/log.json");
    invocation.log_as_json = true;
    report_refusal(invocation, "4GiB of \"x\": no.\nTry: less.");
    std::ifstream file(folder.at("/log.json"));
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    ASSERT_TRUE(std::getline(file, line));
    const auto entry = nlohmann::json::parse(line);
    EXPECT_EQ(entry["level"], "error");
    EXPECT_EQ(entry["msg"], "cgpu: 4GiB of \"x\": no.\nTry: less.");
    EXPECT_EQ(entry["time"].get<std::string>().size(), std::string("2026-01-01T00:00:00Z").size());
    EXPECT_FALSE(std::getline(file, line));
}

TEST(ReportRefusal, BytesThatAreNoTextDontLoseIt) {
    const client::TempRoot folder;
    Invocation invocation;
    invocation.log = folder.at("/log.json");
    invocation.log_as_json = true;
    report_refusal(invocation, "\xff\xfe: no. Try: less.");
    std::ifstream file(folder.at("/log.json"));
    const auto entry = nlohmann::json::parse(file);
    EXPECT_NE(entry["msg"].get<std::string>().find(": no. Try: less."), std::string::npos);
}

TEST(FailedHook, IsTheOnlyLineOfTheLogThatTheEngineReads) {
    const client::TempRoot folder;
    folder.file("/log.json", "");
    // As a runtime has it: open since before the hook began.
    std::ofstream runtimes(folder.at("/log.json"), std::ios::app);
    report_failed_hook({folder.at("/log.json"), true}, "no driver. Try: x.");
    runtimes << R"({"level":"error","msg":"error executing hook"})" << std::endl;
    std::ifstream file(folder.at("/log.json"));
    const auto entry = nlohmann::json::parse(file);
    EXPECT_EQ(entry["msg"], "cgpu: no driver. Try: x.");
    EXPECT_EQ(files(folder), 1);
}

TEST(FailedHook, FindsTheLogOfTheRuntimeThatCallsIt) {
    const client::TempRoot proc;
    const auto process = [&proc](const std::string& pid, const std::string& parent, std::string words) {
        proc.file("/" + pid + "/status", "Name:\tx\nPPid:\t" + parent + "\n");
        std::replace(words.begin(), words.end(), ' ', '\0');
        proc.file("/" + pid + "/cmdline", words + std::string(1, '\0'));
    };
    process("self", "30", "cgpu-runtime hook");
    process("30", "20", "runc init");
    process("20", "10", "runc --log /run/log.json --log-format=json create --bundle /b web");
    process("10", "1", "conmon --log /run/other create");
    auto log = log_of_calling_runtime(proc.path());
    EXPECT_EQ(log.file, "/run/log.json");
    EXPECT_TRUE(log.as_json);
    process("20", "1", "crun --log=journald:web create web");
    EXPECT_EQ(log_of_calling_runtime(proc.path()).file, "");
    process("20", "10", "runc --log /run/log start web");
    process("10", "5", "sh");
    process("5", "1", "runc --log /run/log create web");
    EXPECT_EQ(log_of_calling_runtime(proc.path()).file, "") << "too far away";
    EXPECT_EQ(log_of_calling_runtime(proc.at("/missing")).file, "");
}

TEST(FailedHook, ALogThatCantBeReplacedStays) {
    const client::TempRoot folder;
    folder.file("/log.json/file", "");
    report_failed_hook({folder.at("/log.json"), false}, "no driver. Try: x.");
    report_failed_hook({folder.at("/missing/log.json"), false}, "no driver. Try: x.");
    report_failed_hook({}, "no driver. Try: x.");
    EXPECT_EQ(files(folder), 1);
}

TEST(HookLog, IsTheLastArgument) {
    Invocation invocation;
    EXPECT_EQ(hook_log_argument(invocation), "");
    for (const bool as_json : {false, true}) {
        invocation.log = "/run/a=b/log";
        invocation.log_as_json = as_json;
        std::vector<std::string> arguments{"attach", "0123", hook_log_argument(invocation)};
        const HookLog log = take_hook_log(arguments);
        EXPECT_EQ(log.file, "/run/a=b/log");
        EXPECT_EQ(log.as_json, as_json);
        EXPECT_EQ(arguments, (std::vector<std::string>{"attach", "0123"}));
        EXPECT_EQ(take_hook_log(arguments).file, "");
        EXPECT_EQ(arguments.size(), 2U);
    }
    for (const char* no_file : {"journald:cgpu", "syslog:cgpu", "log.json"}) {
        invocation.log = no_file;
        EXPECT_EQ(hook_log_argument(invocation), "") << no_file;
    }
}

}  // namespace
}  // namespace cgpu::runtime
