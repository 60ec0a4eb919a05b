#include "client/cgpuctl/top/layout.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "client/cgpuctl/output/format.hpp"
#include "tests/unit/client/support/readings.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using std::chrono::milliseconds;

class TopLayout : public testing::Test {
  protected:
    void read() { session_.took(reading_at(snapshot_, 0)); }
    std::vector<std::string> texts(Size size, bool utf8 = true) {
        std::vector<std::string> all;
        for (const Line& line : draw(session_, size, utf8).lines) all.push_back(text_of(line));
        return all;
    }
    std::string text(Size size, bool utf8 = true) {
        std::string all;
        for (const std::string& line : texts(size, utf8)) all += line + "\n";
        return all;
    }

    client::Snapshot snapshot_ = two_gpus();
    Session session_{milliseconds{1000}};
};

TEST_F(TopLayout, OnAScreenOf80By24) {
    read();
    const auto lines = texts({80, 24});
    ASSERT_EQ(lines.size(), 24U);
    EXPECT_EQ(lines[0].find("cgpu 1.2.3  "), 0U);
    EXPECT_NE(lines[0].find("  every 1 s  2 GPUs, 1 instance"), std::string::npos) << lines[0];
    EXPECT_EQ(lines[1], "GPU  0 weighted      1/20 util  33% ████         mem ▏  │         200/16130MiB");
    EXPECT_EQ(lines[2], "GPU  1 weighted      0/20 util   0%              mem │            0/16130MiB");
    EXPECT_EQ(lines[3], "GPU NAME            WT PRI    DUE   GOT GOT, | DUE HISTORY    WAIT    MEMORY MiB");
    EXPECT_EQ(lines[4], "  0 web              2       100% 33.3% ███▍     │         ▃     -      200/4301");
    EXPECT_EQ(lines[23], "q end  ? help  s sort  / filter  w weight  p priority  P policy  space pause");
}

TEST_F(TopLayout, InAscii) {
    snapshot_.instances[0].name = "größe";
    read();
    EXPECT_EQ(texts({80, 24}, false)[4],
              "  0 gr??e            2       100% 33.3% ###......|         -     -      200/4301");
    for (const char c : text({120, 40}, false)) EXPECT_GE(c, '\n');
}

TEST_F(TopLayout, TheSelectedInstancesProcessesAreNamedAboveTheKeys) {
    snapshot_.instances[0].processes = {{4711, 0, "python3"}, {4712, std::nullopt, "a\x1b[2J"}};
    read();
    auto lines = texts({80, 24});
    EXPECT_EQ(lines[22], "web: 4711 root python3, 4712 a?[2J");
    EXPECT_EQ(lines[23], "q end  ? help  s sort  / filter  w weight  p priority  P policy  space pause");
    snapshot_.instances[0].processes.assign(50, {4711, 0, "python3"});
    read();
    lines = texts({80, 24});
    EXPECT_EQ(lines[22].size(), 80U);
}

/// Whatever the size, the names and the state.
TEST_F(TopLayout, FitsIntoEverySize) {
    snapshot_.instances[0].name = "a name that is longer than any column of this table could be";
    for (int i = 0; i < 30; ++i)
        add_instance(snapshot_, std::to_string(1000 + i), "größer" + std::to_string(i), 1);
    for (std::uint32_t i = 2; i < 16; ++i) {
        snapshot_.gpus.push_back(snapshot_.gpus[1]);
        snapshot_.gpus.back().index = i;
        snapshot_.gpus.back().uuid += std::to_string(i);
        snapshot_.gpus.back().memory_total = 999999 * kMib;
    }
    read();
    const auto check = [&](const char* what) {
        for (std::size_t width = 1; width <= 130; width += width < 30 ? 1 : 7)
            for (const std::size_t height : {1U, 2U, 3U, 4U, 5U, 8U, 15U, 24U, 60U}) {
                const auto picture = draw(session_, {width, height}, true);
                ASSERT_EQ(picture.lines.size(), height) << what;
                for (const Line& line : picture.lines)
                    ASSERT_LE(text_width(text_of(line)), width) << what << ": " << text_of(line);
                if (picture.cursor) {
                    ASSERT_LT(*picture.cursor, width) << what;
                }
            }
    };
    check("as it begins");
    session_.press(letter("?"));
    check("help");
    session_.press(letter("?"));
    session_.press(letter("w"));
    check("question");
    for (const char c : {'x', '\n'})
        session_.press(c == '\n' ? Key{Key::Kind::enter} : letter(std::string(1, c)));
    check("question and error");
    session_.press({Key::Kind::escape});
    session_.failed({client::ClientError::Kind::unreachable, std::string(500, 'x')});
    check("message");
}

TEST_F(TopLayout, TheLeastImportantColumnsGoFirst) {
    add_instance(snapshot_, "fedcba9876543210", "train", 1);
    read();
    const auto heading = [&](std::size_t width) { return texts({width, 24})[3]; };
    EXPECT_NE(heading(120).find(" ID "), std::string::npos);
    EXPECT_NE(heading(120).find("PROC"), std::string::npos);
    EXPECT_EQ(heading(90).find(" ID "), std::string::npos);
    EXPECT_EQ(heading(79).find("HISTORY"), std::string::npos);
    EXPECT_NE(heading(60).find("GPU NAME             WT PRI    DUE   GOT  WAIT    MEMORY MiB"),
              std::string::npos)
        << heading(60);
    EXPECT_EQ(heading(30).find("GPU NAME"), 0U);
}

TEST_F(TopLayout, TheSelectedInstanceIsAlwaysOnTheScreen) {
    for (int i = 0; i < 40; ++i)
        add_instance(snapshot_, std::to_string(1000 + i), "number" + std::to_string(i), 1);
    read();
    for (int i = 0; i < 41; ++i) {
        const auto picture = draw(session_, {80, 15}, true);
        const auto selected = std::ranges::count_if(picture.lines, [](const Line& line) {
            return !line.empty() && line.front().style == Style::selected;
        });
        ASSERT_EQ(selected, 1) << i;
        session_.press({Key::Kind::down});
    }
    EXPECT_NE(text({80, 15}).find("number39 "), std::string::npos);
}

TEST_F(TopLayout, ManyGpusLeaveRoomForInstances) {
    for (std::uint32_t i = 2; i < 16; ++i) {
        snapshot_.gpus.push_back(snapshot_.gpus[1]);
        snapshot_.gpus.back().index = i;
        snapshot_.gpus.back().uuid = "GPU-" + std::to_string(i);
    }
    client::Instance& last = add_instance(snapshot_, "fedc", "last", 1);
    last.gpus[0].quota.gpu = "GPU-15";
    last.gpus[0].quota.gpu_index = 15;
    read();
    EXPECT_NE(text({80, 24}).find("\n6 more GPUs\n"), std::string::npos) << text({80, 24});
    EXPECT_EQ(text({80, 24}).find("GPU 15"), std::string::npos);
    session_.press({Key::Kind::last});
    EXPECT_NE(text({80, 24}).find("GPU 15"), std::string::npos);
}

TEST_F(TopLayout, ANodeWithoutGpusOrInstances) {
    snapshot_.instances.clear();
    read();
    EXPECT_NE(text({80, 24}).find("\nNo instances.\n"), std::string::npos);
    snapshot_.gpus.clear();
    read();
    EXPECT_NE(text({80, 24}).find("\nThis node has no GPU.\n"), std::string::npos);
}

TEST_F(TopLayout, AGpuThatIsLost) {
    snapshot_.gpus[1].present = false;
    read();
    EXPECT_EQ(texts({80, 24})[2].find("GPU  - lost "), 0U) << texts({80, 24})[2];
}

TEST_F(TopLayout, MessagesAreShownAsAWhole) {
    read();
    const std::string said =
        "weight 99 for instance 0123456789ab (web): it is out of range, and this is told at length. Try: 1 "
        "to 20.";
    session_.failed({client::ClientError::Kind::refused, said});
    std::string all;
    for (const std::string& line : texts({60, 15})) all += line + " ";
    EXPECT_NE(all.find(said), std::string::npos) << all;
}

TEST_F(TopLayout, TheCursorIsBehindWhatIsTyped) {
    read();
    EXPECT_EQ(draw(session_, {80, 24}, true).cursor, std::nullopt);
    session_.press(letter("w"));
    session_.press(letter("7"));
    const auto picture = draw(session_, {80, 24}, true);
    EXPECT_TRUE(text_of(picture.lines.back()).ends_with(": 7"));
    EXPECT_EQ(picture.cursor, text_of(picture.lines.back()).size());
    session_.press({Key::Kind::enter});
    EXPECT_TRUE(text_of(draw(session_, {80, 24}, true).lines.back()).ends_with("[y/N] "));
}

TEST_F(TopLayout, WhatNeedsAttentionIsMarked) {
    client::Usage& usage = snapshot_.instances[0].gpus[0].usage;
    usage.memory_used = 4300 * kMib;
    read();
    usage.waited += 900'000'000;
    session_.took(reading_at(snapshot_, 1));
    // The selected row has no colours of its own.
    add_instance(snapshot_, "0000", "first", 0);
    std::swap(snapshot_.instances[0], snapshot_.instances[1]);
    session_.took(reading_at(snapshot_, 2));
    session_.press({Key::Kind::first});
    const auto lines = draw(session_, {80, 24}, true).lines;
    const auto styled = [&](const Line& line, Style style) {
        std::string text;
        for (const Span& span : line)
            if (span.style == style) text += span.text;
        return text;
    };
    EXPECT_NE(styled(lines[5], Style::warning).find("4300/4301"), std::string::npos) << text_of(lines[5]);
}

TEST_F(TopLayout, AFrameIsAsLongAsItNeedsToBe) {
    for (int i = 0; i < 40; ++i)
        add_instance(snapshot_, std::to_string(1000 + i), "n" + std::to_string(i), 1);
    read();
    const auto lines = frame(session_, 80, true);
    EXPECT_EQ(lines.size(), 1U + 2U + 1U + 41U);
    EXPECT_NE(text_of(lines[0]).find(time_text(1700000000)), std::string::npos);
    for (const Line& line : lines)
        for (const Span& span : line) EXPECT_NE(span.style, Style::selected);
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
