#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

class ShowUnmanaged : public VerbTest<ShowInput> {};

TEST_F(ShowUnmanaged, IsShownByTheSameWordsAsAnInstance) {
    node_.snapshot.unmanaged = {{"aaaabbbbccccdddd", "free", 1, 12, {kUuid1}, {{kUuid0, 300 * kMib}}},
                                {"aaaabbbbccccdddd2", "other", 2, 0, {}, {}}};
    input_.target = "free";
    ASSERT_TRUE(call(&show));
    const std::string text = screen_.out.str();
    EXPECT_NE(text.find("aaaabbbbccccdddd\n"), std::string::npos) << text;
    EXPECT_NE(text.find("unmanaged (it has no limit, and ends with its process)"), std::string::npos) << text;
    EXPECT_NE(text.find("300MiB"), std::string::npos) << text;
    screen_.out.str("");
    input_.json = true;
    ASSERT_TRUE(call(&show));
    const auto json = nlohmann::json::parse(screen_.out.str());
    EXPECT_EQ(json["id"], "aaaabbbbccccdddd");
    EXPECT_EQ(json["gpus"][0]["memory_used_bytes"], 300 * kMib);
    input_.target = "aaaabbbb";
    const auto ambiguous = call(&show);
    ASSERT_FALSE(ambiguous);
    EXPECT_EQ(ambiguous.error().text,
              "container \"aaaabbbb\": 2 containers without a limit are meant by it. Try: name one of: "
              "\"aaaabbbbccccdddd\", \"aaaabbbbccccdddd2\".");
    input_.target = "zzzz";
    EXPECT_FALSE(call(&show));
}

}  // namespace
}  // namespace cgpu::cgpuctl
