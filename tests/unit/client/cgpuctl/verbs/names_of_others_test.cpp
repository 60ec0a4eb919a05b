#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

using VerbWithNames = client::Result<void> (*)(const Input&, client::Node&, Terminal&);

class NamesOfOthers : public testing::Test {
  protected:
    std::string printed(VerbWithNames verb) {
        auto terminal = screen_.terminal();
        EXPECT_TRUE(verb(input_, node_, terminal));
        return screen_.out.str();
    }

    FakeNode node_;
    Screen screen_;
    Input input_;
    std::string wide_;
};

/// Whoever chose it, a name changes neither other columns nor how other text is seen.
TEST_F(NamesOfOthers, AreCutAndHarmless) {
    const auto width_with = [&](const std::string& name, VerbWithNames verb) {
        node_.snapshot.instances[0].name = name;
        screen_.out.str("");
        const std::string text = printed(verb);
        for (const char* hidden : {"\u202e", "\u2066", "\x1b"})
            EXPECT_EQ(text.find(hidden), std::string::npos) << text;
        EXPECT_NE(text.find(name == wide_ ? "训" : "xxx"), std::string::npos) << text;
        std::size_t widest = 0;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
        return widest;
    };
    for (int i = 0; i < 100; ++i) wide_ += "训";
    input_.details = true;
    for (const VerbWithNames verb : {&list, &inspect}) {
        const auto usual = width_with(std::string(40, 'x'), verb);
        EXPECT_EQ(width_with(std::string(300, 'x'), verb), usual);
        EXPECT_EQ(width_with("\u202e\x1b[2J\u2066" + std::string(100, 'x'), verb), usual);
        EXPECT_LE(width_with(wide_, verb), usual);
    }
    node_.snapshot.instances[0].name = std::string(300, 'x') + "\u202e";
    input_.json = true;
    screen_.out.str("");
    EXPECT_NE(printed(&list).find(std::string(300, 'x') + "\\u202e\""), std::string::npos)
        << "in full, escaped";
}

}  // namespace
}  // namespace cgpu::cgpuctl
