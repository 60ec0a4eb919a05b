#include "files/read.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::files {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;

struct ReadTest : testing::Test {
    const test::TempFolder folder;

    std::string file(const std::string& text) {
        std::ofstream(folder / "file") << text;
        return folder / "file";
    }
    std::string why_not_whole(const std::string& path, int flags = 0) {
        const auto read = read_whole(path, kMost, flags);
        return read ? "it was read" : read.error().why();
    }
};

TEST_F(ReadTest, AWholeFileIsNoLongerThanItMayBe) {
    EXPECT_EQ(read_whole(file(std::string(kMost, 'x')), kMost).value(), std::string(kMost, 'x'));
    EXPECT_EQ(why_not_whole(file(std::string(kMost + 1, 'x'))), "it is longer than 1MiB");
    EXPECT_EQ(read_whole(file(""), kMost).value(), "");
    EXPECT_EQ(read_whole(folder / "none", kMost).value(), std::nullopt);
}

/// It has no blocks, but would take an hour to read.
TEST_F(ReadTest, ALargeFileIsNotRead) {
    ASSERT_EQ(truncate(file("").c_str(), off_t{1} << 42), 0);
    EXPECT_EQ(why_not_whole(folder / "file"), "it is longer than 1MiB");
}

TEST_F(ReadTest, WhatIsNoFileIsNamed) {
    const std::string path = folder / "other";
    test::for_each_not_file(path, [&](const test::NotFile& other) {
        EXPECT_EQ(why_not_whole(path), other.why);
        const auto text = read_text(path, kMost);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().why(), other.why);
        EXPECT_TRUE(text.error().is_no_file());
        EXPECT_FALSE(text.error().is_missing());
        const auto written = write_text(path, "x");
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().why(), other.why);
        const bool is_link = std::filesystem::is_symlink(path);
        EXPECT_EQ(why_not_whole(path, O_NOFOLLOW).starts_with("it is a symbolic link"), is_link);
    });
}

TEST_F(ReadTest, AFileIsWrittenInPlaceAndMadeIfThereIsNone) {
    ASSERT_TRUE(write_text(folder / "new", "longer"));
    ASSERT_TRUE(write_text(folder / "new", "text"));
    EXPECT_EQ(read_whole(folder / "new", kMost).value(), "text");
    const auto nowhere = write_text(folder / "none/new", "x");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().error, ENOENT);
}

TEST_F(ReadTest, OfATextTheBeginningIsTaken) {
    EXPECT_EQ(read_text(file("abcdef"), 3).value(), "abc");
    EXPECT_FALSE(read_text("/proc/self/stat", kMost).value_or("").empty()) << "which it says is empty";
}

TEST_F(ReadTest, TheContentBeginsWhereTheFileDoes) {
    const auto opened = open_regular(file("abcdef"));
    ASSERT_TRUE(opened);
    EXPECT_EQ(lseek(opened->fd(), 4, SEEK_SET), 4);
    EXPECT_EQ(content_of(opened->fd())->size(), 6U);
    EXPECT_EQ(content_of(opened->fd(), 5), tl::unexpected(EFBIG));
    EXPECT_EQ(read_up_to(opened->fd(), kMost), std::string("ef"));
}

}  // namespace
}  // namespace cgpu::files
