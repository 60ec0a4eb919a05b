#include "client/runtime/call/refusal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

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

}  // namespace
}  // namespace cgpu::runtime
