#include "client/run/driver/library_folders.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

using Folders = std::vector<std::string>;

LibraryFolders folders_of(const TempRoot& root, const LoaderEnvironment& environment = {}) {
    const auto folders = library_folders(*Root::open(root.path()), environment);
    return folders ? *folders : LibraryFolders{{folders.error().text}, {}, {}};
}

ShippedFolders shipped_in(const TempRoot& root, Place place, const LoaderEnvironment& environment = {}) {
    const auto folders = shipped_driver_folders(*Root::open(root.path()), environment, place);
    return folders ? *folders : ShippedFolders{{folders.error().text}, {}, {}};
}

TEST(LibraryFolders, TheConfiguredOnesAndTheUsual) {
    const TempRoot root;
    root.file("/etc/ld.so.conf",
              "# a comment\n/opt/one # why\n\ninclude ld.so.conf.d/*.conf\n/opt/missing\n");
    root.file("/etc/ld.so.conf.d/b.conf", "/opt/two\n");
    root.file("/etc/ld.so.conf.d/a.conf", "/opt/three\n/opt/one\n");
    root.file("/etc/ld.so.conf.d/c.notconf", "/opt/four\n");
    for (const char* folder :
         {"/opt/one", "/opt/two", "/opt/three", "/opt/four", "/usr/lib", "/usr/local/nvidia/lib64"})
        root.folder(folder);
    EXPECT_EQ(folders_of(root),
              (LibraryFolders{
                  {}, {"/usr/lib", "/usr/local/nvidia/lib64"}, {"/opt/one", "/opt/three", "/opt/two"}}));
}

TEST(LibraryFolders, TheProgramsOwn) {
    const TempRoot root;
    root.file("/etc/ld.so.conf", "/opt/one\n/opt/two\n");
    for (const char* folder : {"/opt/one", "/opt/two", "/opt/three", "/opt/four"}) root.folder(folder);
    EXPECT_EQ(folders_of(root, {"/opt/two::/opt/missing:opt/four;/opt/three:", ""}),
              (LibraryFolders{{"/opt/two", "/opt/three"}, {}, {"/opt/one"}}));
}

TEST(LibraryFolders, ThoseBelowThatTheLoaderLooksInFirst) {
    const TempRoot root;
    for (const char* folder : {"/opt/a/glibc-hwcaps/x86-64-v3", "/opt/a/glibc-hwcaps/x86-64-v9",
                               "/opt/a/tls/x86_64", "/opt/a/x86_64/tls", "/usr/lib/haswell"})
        root.folder(folder);
    EXPECT_EQ(folders_of(root, {"/opt/a", ""}),
              (LibraryFolders{{"/opt/a/glibc-hwcaps/x86-64-v3", "/opt/a/tls/x86_64", "/opt/a/tls",
                               "/opt/a/x86_64", "/opt/a"},
                              {"/usr/lib/haswell", "/usr/lib"},
                              {}}));
}

TEST(LibraryFolders, TokensOfTheProgramsOwn) {
    const TempRoot root;
    for (const char* folder : {"/opt/lib64/x86_64", "/opt/lib/x86_64-linux-gnu", "/opt/$LIB", "/srv/haswell"})
        root.folder(folder);
    EXPECT_EQ(folders_of(root, {"/opt/$LIB:/opt/${LIB}/$PLATFORM:/srv/${PLATFORM}:/opt/$ORIGIN", ""}).own,
              (Folders{"/opt/lib/x86_64-linux-gnu", "/opt/lib64/x86_64", "/opt/lib64", "/opt/lib",
                       "/srv/haswell"}));
}

TEST(LibraryFolders, WithoutAConfig) {
    const TempRoot root;
    root.folder("/usr/lib/x86_64-linux-gnu");
    EXPECT_EQ(folders_of(root), (LibraryFolders{{}, {"/usr/lib/x86_64-linux-gnu", "/usr/lib"}, {}}));
}

TEST(LibraryFolders, AConfigThatIncludesItselfEnds) {
    const TempRoot root;
    root.file("/etc/ld.so.conf", "include ld.so.conf\n/opt/one\n");
    root.folder("/opt/one");
    EXPECT_EQ(folders_of(root).configured, Folders{"/opt/one"});
}

TEST(LibraryFolders, ManySpellingsOfAFolderAreOneFolder) {
    const TempRoot root;
    for (const char* folder : {"/usr/bin", "/usr/lib"}) root.folder(folder);
    std::string path;
    std::string config;
    for (int i = 0; i < 1100; ++i) {
        const std::string link = "/opt/" + std::to_string(i);
        root.link(link, "../usr/bin");
        path += "/usr";
        for (int j = 0; j < i; ++j) path += "/.";
        path += "/bin:";
        config += link + "\n";
    }
    root.file("/etc/ld.so.conf", config);
    EXPECT_EQ(folders_of(root, {path, ""}), (LibraryFolders{{"/usr/bin"}, {"/usr/lib"}, {}}));
}

TEST(LibraryFolders, MoreFoldersThanAnySystemHasAreRefused) {
    const TempRoot root;
    std::string config;
    for (int i = 0; i < 1100; ++i) {
        root.folder("/opt/" + std::to_string(i));
        config += "/opt/" + std::to_string(i) + "\n";
    }
    root.folder("/usr/lib");
    root.file("/etc/ld.so.conf", config);
    const auto folders = library_folders(*Root::open(root.path()), {});
    ASSERT_FALSE(folders);
    EXPECT_EQ(folders.error().kind, ClientError::Kind::refused);
    EXPECT_EQ(folders.error().text,
              "the loader is told of more than 1024 folders, so a driver's library among them could stay "
              "uncovered. Try: remove some of them.");
}

TEST(LibraryFolders, AConfigThatIsTooLongIsRefused) {
    const TempRoot root;
    root.folder("/opt/one");
    root.file("/etc/ld.so.conf", std::string((1U << 20U) - 9, '#') + "\n/opt/one\n");
    EXPECT_TRUE(folders_of(root).own.at(0).starts_with("\"/etc/ld.so.conf\" has more than 1048576 bytes"))
        << "its end, that names a folder, would be lost";
}

TEST(LibraryFolders, AChainOfIncludesIsFollowedToItsEnd) {
    const TempRoot root;
    root.folder("/opt/one");
    root.file("/etc/ld.so.conf", "include 0\n");
    for (int i = 0; i < 20; ++i)
        root.file("/etc/" + std::to_string(i), "include " + std::to_string(i + 1) + "\n");
    root.file("/etc/20", "/opt/one\n");
    EXPECT_EQ(folders_of(root).configured, Folders{"/opt/one"});
}

TEST(ShippedDriverFolders, ThoseOfToolkitsAndOfConda) {
    const TempRoot root;
    for (const char* folder : {"/usr/local/cuda-12.4/compat/lib.real", "/opt/conda/cuda-compat",
                               "/opt/conda/envs/a/cuda-compat", "/home/u/forge/envs/b/cuda-compat",
                               "/home/u/forge/envs/c/cuda-compat", "/home/u/forge/cuda-compat"})
        root.folder(folder);
    const Folders fixed = {"/usr/local/cuda-12.4/compat", "/usr/local/cuda-12.4/compat/lib.real",
                           "/opt/conda/cuda-compat", "/opt/conda/envs/a/cuda-compat"};
    const Folders claimed = {"/home/u/forge/envs/b/cuda-compat", "/home/u/forge/cuda-compat",
                             "/home/u/forge/envs/c/cuda-compat"};
    EXPECT_EQ(shipped_in(root, Place::container), (ShippedFolders{fixed, {}, {}}));
    EXPECT_EQ(shipped_in(root, Place::container, {"", "/home/u/forge/envs/b/"}),
              (ShippedFolders{fixed, {}, claimed}));
    // Each is in one list.
    EXPECT_EQ(shipped_in(root, Place::container, {"", "/opt/conda"}),
              (ShippedFolders{{fixed.begin(), fixed.begin() + 2}, {}, {fixed.begin() + 2, fixed.end()}}));
}

TEST(ShippedDriverFolders, OnAHostThoseThatOthersThanRootCanWriteToAreDoubtful) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
    const TempRoot root;
    const Folders all = {"/usr/local/cuda-12.4/compat", "/opt/conda/cuda-compat",
                         "/opt/conda/envs/a/cuda-compat", "/opt/miniconda3/cuda-compat",
                         "/opt/miniforge3/cuda-compat"};
    for (const std::string& folder : all) root.folder(folder);
    EXPECT_EQ(shipped_in(root, Place::host), (ShippedFolders{all, {}, {}}));
    ASSERT_EQ(chown(root.at("/opt/conda/envs").c_str(), 1000, 0), 0);
    ASSERT_EQ(chmod(root.at("/opt/miniconda3").c_str(), 01777), 0);
    ASSERT_EQ(chmod(root.at("/opt/miniforge3/cuda-compat").c_str(), 0775), 0);
    EXPECT_EQ(shipped_in(root, Place::host),
              (ShippedFolders{{all[0], all[1]}, {all[2], all[3], all[4]}, {}}));
    EXPECT_EQ(shipped_in(root, Place::host, {"", "/opt/conda"}),
              (ShippedFolders{{all[0]}, {all[3], all[4]}, {all[1], all[2]}}));
    ASSERT_EQ(chmod(root.path().c_str(), 0777), 0);
    EXPECT_EQ(shipped_in(root, Place::host), (ShippedFolders{{}, all, {}}));
}

TEST(ShippedDriverFolders, ThousandsThatAUserHasMadeKeepNobodyElsesJobsFromStarting) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
    const TempRoot root;
    root.folder("/usr/local/cuda-12.4/compat");
    for (int i = 0; i < 1500; ++i) root.folder("/opt/conda/envs/" + std::to_string(i) + "/cuda-compat");
    ASSERT_EQ(chown(root.at("/opt/conda/envs").c_str(), 1000, 0), 0);
    const ShippedFolders found = shipped_in(root, Place::host);
    EXPECT_EQ(found.shipped, Folders{"/usr/local/cuda-12.4/compat"});
    EXPECT_EQ(found.doubtful.size(), 64U);
    EXPECT_TRUE(
        shipped_in(root, Place::container).shipped.at(0).starts_with("the loader is told of more than"));
}

}  // namespace
}  // namespace cgpu::client
