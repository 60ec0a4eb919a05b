#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

class NamesOfOthers : public testing::Test {
  protected:
    std::string printed_list() {
        auto terminal = screen_.terminal();
        EXPECT_TRUE(list(list_, node_, terminal));
        return screen_.out.str();
    }
    std::string printed_details() {
        auto terminal = screen_.terminal();
        InspectInput input;
        input.details = true;
        EXPECT_TRUE(inspect(input, node_, terminal));
        return screen_.out.str();
    }

    FakeNode node_;
    Screen screen_;
    ListInput list_;
    std::string wide_;
};

/// Whoever chose it, a name changes neither other columns nor how other text is seen.
TEST_F(NamesOfOthers, AreCutAndHarmless) {
    const auto width_with = [&](const std::string& name, bool details) {
        node_.snapshot.instances[0].name = name;
        screen_.out.str("");
        const std::string text = details ? printed_details() : printed_list();
        for (const char* hidden : {"\u202e", "\u2066", "\x1b"})
            EXPECT_EQ(text.find(hidden), std::string::npos) << text;
        EXPECT_NE(text.find(name == wide_ ? "训" : "xxx"), std::string::npos) << text;
        std::size_t widest = 0;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
        return widest;
    };
    for (int i = 0; i < 100; ++i) wide_ += "训";
    for (const bool details : {false, true}) {
        const auto usual = width_with(std::string(40, 'x'), details);
        EXPECT_EQ(width_with(std::string(300, 'x'), details), usual);
        EXPECT_EQ(width_with("\u202e\x1b[2J\u2066" + std::string(100, 'x'), details), usual);
        EXPECT_LE(width_with(wide_, details), usual);
    }
    node_.snapshot.instances[0].name = std::string(300, 'x') + "\u202e";
    list_.json = true;
    screen_.out.str("");
    EXPECT_NE(printed_list().find(std::string(300, 'x') + "\\u202e\""), std::string::npos)
        << "in full, escaped";
}

}  // namespace
}  // namespace cgpu::cgpuctl
