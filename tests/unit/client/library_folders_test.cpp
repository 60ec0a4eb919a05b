#include "client/run/library_folders.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/temp_root.hpp"

namespace cgpu::client {
namespace {

using Folders = std::vector<std::string>;

TEST(LibraryFolders, TheConfigsComeFirstThenTheUsual) {
    const TempRoot root;
    root.file("/etc/ld.so.conf",
              "# a comment\n/opt/one # why\n\ninclude ld.so.conf.d/*.conf\n/opt/missing\n");
    root.file("/etc/ld.so.conf.d/b.conf", "/opt/two\n");
    root.file("/etc/ld.so.conf.d/a.conf", "/opt/three\n/opt/one\n");
    root.file("/etc/ld.so.conf.d/c.notconf", "/opt/four\n");
    for (const char* folder :
         {"/opt/one", "/opt/two", "/opt/three", "/opt/four", "/usr/lib", "/usr/local/nvidia/lib64"})
        root.folder(folder);
    EXPECT_EQ(library_folders(*Root::open(root.path()), ""),
              (Folders{"/opt/one", "/opt/three", "/opt/two", "/usr/lib", "/usr/local/nvidia/lib64"}));
}

TEST(LibraryFolders, TheProgramsOwnPathComesFirst) {
    const TempRoot root;
    root.file("/etc/ld.so.conf", "/opt/one\n/opt/two\n");
    for (const char* folder : {"/opt/one", "/opt/two", "/opt/three", "/opt/four"}) root.folder(folder);
    EXPECT_EQ(library_folders(*Root::open(root.path()), "/opt/two::/opt/missing:opt/four;/opt/three:"),
              (Folders{"/opt/two", "/opt/three", "/opt/one"}));
}

TEST(LibraryFolders, WithoutAConfig) {
    const TempRoot root;
    root.folder("/usr/lib/x86_64-linux-gnu");
    EXPECT_EQ(library_folders(*Root::open(root.path()), ""),
              (Folders{"/usr/lib/x86_64-linux-gnu", "/usr/lib"}));
}

TEST(LibraryFolders, AConfigThatIncludesItselfEnds) {
    const TempRoot root;
    root.file("/etc/ld.so.conf", "include ld.so.conf\n/opt/one\n");
    root.folder("/opt/one");
    EXPECT_EQ(library_folders(*Root::open(root.path()), ""), Folders{"/opt/one"});
}

}  // namespace
}  // namespace cgpu::client
