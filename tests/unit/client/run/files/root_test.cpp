#include "client/run/files/root.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

constexpr std::size_t kAll = 1000;

TEST(Root, LinksStayInside) {
    const TempRoot outside;
    outside.file("/image/secret", "the image's");
    outside.file("/secret", "the host's");
    outside.link("/image/up", "../secret");
    outside.link("/image/absolute", "/secret");
    outside.link("/image/far", "../../../../../../secret");
    const auto root = Root::open(outside.at("/image"));
    ASSERT_TRUE(root);
    for (const char* path : {"/up", "/absolute", "/far", "/../secret", "../../secret"})
        EXPECT_EQ(root->text_of(path, kAll), "the image's") << path;
}

TEST(Root, NamesAreSortedAndChosen) {
    const TempRoot folder;
    for (const char* name : {"/lib/c", "/lib/a", "/lib/libx", "/lib/b"}) folder.file(name, "");
    const auto root = Root::open(folder.path());
    ASSERT_TRUE(root);
    using Names = std::vector<std::string>;
    EXPECT_EQ(root->names_in("/lib"), (Names{".", "..", "a", "b", "c", "libx"}));
    EXPECT_EQ(root->names_in("/lib", [](std::string_view name) { return name.size() == 1 && name != "."; }),
              (Names{"a", "b", "c"}));
    EXPECT_EQ(root->names_in("/none"), Names{});
}

TEST(Root, MagicLinksOfProcAreRefused) {
    // An image could contain this: a link to a process's root.
    const auto root = Root::open("/");
    ASSERT_TRUE(root);
    EXPECT_FALSE(root->find("/proc/self/root/etc", O_PATH));
    EXPECT_EQ(errno, ELOOP);
    EXPECT_TRUE(root->find("/etc", O_PATH));
}

TEST(Root, WhatWasResolvedIsNotFoundBehindALinkAnyMore) {
    const TempRoot folder;
    folder.file("/lib/libcuda.so.1", "");
    folder.file("/other/libcuda.so.1", "");
    const auto root = Root::open(folder.path());
    ASSERT_TRUE(root);
    EXPECT_TRUE(root->find_real("/lib/libcuda.so.1", O_PATH));
    std::filesystem::rename(folder.at("/lib"), folder.at("/moved"));
    folder.link("/lib", "/other");
    EXPECT_TRUE(root->find("/lib/libcuda.so.1", O_PATH));
    EXPECT_FALSE(root->find_real("/lib/libcuda.so.1", O_PATH));
    EXPECT_EQ(errno, ELOOP);
    folder.link("/moved/libcuda.so.2", "/other/libcuda.so.1");
    EXPECT_FALSE(root->find_real("/moved/libcuda.so.2", O_PATH));
}

TEST(Root, OnlyRegularFilesAreRead) {
    const TempRoot folder;
    ASSERT_EQ(mkfifo(folder.at("/fifo").c_str(), 0600), 0);
    folder.file("/file", "0123456789");
    const auto root = Root::open(folder.path());
    ASSERT_TRUE(root);
    EXPECT_FALSE(root->find_file("/fifo"));  // and does not hang
    EXPECT_FALSE(root->find_file("/"));
    EXPECT_EQ(root->text_of("/file", 4), "0123");
}

TEST(Root, MakesFoldersThroughTheImagesLinks) {
    const TempRoot folder;
    folder.folder("/image/var/run");
    folder.link("/image/run", "/var/run");
    const auto root = Root::open(folder.at("/image"));
    ASSERT_TRUE(root);
    EXPECT_TRUE(root->make_folder("/run/cgpu/driver"));
    EXPECT_TRUE(root->make_file("/run/cgpu/front/libcuda.so.1"));
    EXPECT_TRUE(std::filesystem::is_directory(folder.at("/image/var/run/cgpu/driver")));
    EXPECT_TRUE(std::filesystem::is_regular_file(folder.at("/image/var/run/cgpu/front/libcuda.so.1")));
}

TEST(Root, SaysWhereAFileReallyLies) {
    const TempRoot folder;
    folder.file("/image/usr/lib/a", "");
    folder.link("/image/lib", "usr/lib");
    const auto root = Root::open(folder.at("/image"));
    ASSERT_TRUE(root);
    EXPECT_EQ(root->path_of(root->find_file("/lib/a")), "/usr/lib/a");
}

}  // namespace
}  // namespace cgpu::client
