#include "files/mount_line.hpp"

#include <gtest/gtest.h>

namespace cgpu::files {
namespace {

TEST(MountLine, HasItsFieldsAndTheRest) {
    std::string_view text =
        "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
        "37 35 0:21 / /a\\040b rw - tmpfs x rw\n";
    auto line = take_mount(text);
    ASSERT_TRUE(line);
    EXPECT_EQ(line->id, "36");
    EXPECT_EQ(line->parent, "35");
    EXPECT_EQ(line->device, "98:0");
    EXPECT_EQ(line->root, "/mnt1");
    EXPECT_EQ(line->point, "/mnt2");
    EXPECT_EQ(line->options, "rw,noatime");
    EXPECT_EQ(line->rest, "master:1 shared:2 - ext3 /dev/root rw,errors=continue");
    line = take_mount(text);
    ASSERT_TRUE(line);
    EXPECT_EQ(unescaped(line->point), "/a b");
    EXPECT_FALSE(take_mount(text));
}

/// A table that was cut off ends within a line.
TEST(MountLine, ALineWithoutARootIsNone) {
    std::string_view text = "36 35 98:0\n\n37 35 0:21 / /a rw - tmpfs x rw\n38 35 0:2";
    auto line = take_mount(text);
    ASSERT_TRUE(line);
    EXPECT_EQ(line->id, "37");
    EXPECT_FALSE(take_mount(text));
    text = "39 35 98:0 /mnt1";
    line = take_mount(text);
    ASSERT_TRUE(line) << "what it shows is known";
    EXPECT_EQ(line->options, "");
}

TEST(MountLine, OnlyThreeOctalDigitsAreUnescaped) {
    EXPECT_EQ(unescaped(R"(\040\134\012)"), " \\\n");
    EXPECT_EQ(unescaped(R"(\04)"), R"(\04)");
    EXPECT_EQ(unescaped(R"(\09a)"), R"(\09a)");
}

}  // namespace
}  // namespace cgpu::files
