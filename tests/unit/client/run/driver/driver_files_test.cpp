#include "client/run/driver/driver_files.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "client/run/files/stored_file.hpp"

#include "tests/unit/client/run/driver/loader_cache.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

using Files = std::vector<std::string>;
constexpr const char* kLib = "/usr/lib/x86_64-linux-gnu";

Files files_of(const DriverLibrary& library) {
    Files files;
    for (const LibraryFile& file : library.files) files.push_back(file.path);
    return files;
}

/// As a distribution installs it.
void install(const TempRoot& root, const std::string& folder, const std::string& version) {
    for (const std::filesystem::path base : {folder + "/libcuda.so", folder + "/libnvidia-ml.so"}) {
        std::filesystem::path file = base;
        std::filesystem::path loaded = base;
        root.library((file += "." + version).native());
        root.link((loaded += ".1").native(), file.filename().native());
        root.link(base.native(), loaded.filename().native());
    }
}

TEST(FindDriver, AsADistributionInstallsIt) {
    const TempRoot root;
    install(root, kLib, "535.104.05");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver) << driver.error().text;
    ASSERT_EQ(driver->libraries.size(), 2U);
    const std::string cuda = std::string(kLib) + "/libcuda.so.535.104.05";
    EXPECT_EQ(driver->libraries[0].soname, "libcuda.so.1");
    EXPECT_EQ(driver->libraries[0].real.path, cuda);
    EXPECT_EQ(files_of(driver->libraries[0]), Files{cuda});
    EXPECT_EQ(driver->libraries[1].soname, "libnvidia-ml.so.1");
    EXPECT_EQ(driver->libraries[1].real.path, std::string(kLib) + "/libnvidia-ml.so.535.104.05");
}

TEST(FindDriver, EveryCopyIsFoundAndTheLoadersIsTheRealOne) {
    const TempRoot root;
    root.file("/etc/ld.so.conf", "/opt/driver\n/opt/more\n");
    install(root, kLib, "470.1");
    install(root, "/opt/driver", "535.2");
    install(root, "/opt/more", "550.3");
    root.library(std::string(kLib) + "/libcuda.so.460.9");
    const Files files = {std::string(kLib) + "/libcuda.so.470.1", std::string(kLib) + "/libcuda.so.460.9",
                         "/opt/driver/libcuda.so.535.2", "/opt/more/libcuda.so.550.3"};
    auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, files[0])
        << "without a cache the loader looks in the system's folders only";
    EXPECT_EQ(files_of(driver->libraries[0]), files);

    root.file("/etc/ld.so.cache", loader_cache({{"libcuda.so.1", "/opt/gone/libcuda.so.1"},
                                                {"libcuda.so.1", "/opt/more/libcuda.so.1"},
                                                {"libcuda.so.1", "/opt/driver/libcuda.so.1"},
                                                {"libnvidia-ml.so.1", "/opt/driver/libnvidia-ml.so.1"}}));
    driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, "/opt/more/libcuda.so.550.3");
    EXPECT_EQ(driver->libraries[0].files.size(), 4U);
    EXPECT_EQ(driver->libraries[1].real.path, "/opt/driver/libnvidia-ml.so.535.2");
    driver = find_driver(*Root::open(root.path()), {"/opt/driver", ""});
    EXPECT_EQ(driver->libraries[0].real.path, "/opt/driver/libcuda.so.535.2");
}

TEST(FindDriver, AnImagesOlderOneIsNotTheRealOneWhileTheLinkIsMissing) {
    const TempRoot root;
    root.library(std::string(kLib) + "/libcuda.so.580.1");
    root.library("/usr/local/cuda/compat/libcuda.so.535.2");
    root.link("/usr/local/cuda/compat/libcuda.so.1", "libcuda.so.535.2");
    const auto driver = find_driver(*Root::open(root.path()), {}, Place::container);
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, std::string(kLib) + "/libcuda.so.580.1");
}

TEST(FindDriver, AFolderReachedTwiceCountsOnce) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.link("/lib", "usr/lib");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].files.size(), 1U);
}

TEST(FindDriver, TwoHardLinksAreCoveredEach) {
    const TempRoot root;
    install(root, kLib, "535.2");
    std::filesystem::create_hard_link(root.at(kLib) + "/libcuda.so.535.2", root.at(kLib) + "/libcuda.so.9");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].files.size(), 2U);
}

TEST(FindDriver, OtherMachinesAndOtherNamesAreLeftOut) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library("/usr/lib/libcuda.so.4", ELFCLASS64, EM_AARCH64);
    root.file("/usr/lib/libcuda.so.5", "INPUT(libcuda.so.1)");
    root.library("/usr/lib/libcuda.so.535.2.bak");
    root.library("/usr/lib/libcudadebugger.so.535.2");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ(files_of(driver->libraries[0]), Files{std::string(kLib) + "/libcuda.so.535.2"});
}

TEST(FindDriver, LibrariesThatReachTheGpuWithoutTheFrontsAreHidden) {
    const TempRoot root;
    install(root, kLib, "535.2");
    const std::string opencl = std::string(kLib) + "/libnvidia-opencl.so.535.2";
    root.library(opencl);
    root.link(std::string(kLib) + "/libnvidia-opencl.so.1", "libnvidia-opencl.so.535.2");
    root.library("/opt/mine/libnvidia-opencl.so.1");
    root.library("/usr/lib/i386-linux-gnu/libcuda.so.535.2", ELFCLASS32, EM_386);
    const auto driver = find_driver(*Root::open(root.path()), {"/opt/mine", ""});
    ASSERT_TRUE(driver);
    ASSERT_EQ(driver->libraries.size(), 4U);
    EXPECT_FALSE(driver->libraries[0].hidden);
    EXPECT_EQ(files_of(driver->libraries[0]), Files{std::string(kLib) + "/libcuda.so.535.2"});
    EXPECT_FALSE(driver->libraries[1].hidden);
    EXPECT_TRUE(driver->libraries[2].hidden);
    EXPECT_EQ(files_of(driver->libraries[2]), (Files{"/opt/mine/libnvidia-opencl.so.1", opencl}));
    EXPECT_TRUE(driver->libraries[3].hidden);
    EXPECT_EQ(driver->libraries[3].soname, "libcuda.so.1");
    EXPECT_EQ(files_of(driver->libraries[3]), Files{"/usr/lib/i386-linux-gnu/libcuda.so.535.2"});
}

TEST(FindDriver, A32BitDriverAloneIsNone) {
    const TempRoot root;
    root.library("/usr/lib/i386-linux-gnu/libcuda.so.1", ELFCLASS32, EM_386);
    EXPECT_FALSE(find_driver(*Root::open(root.path()), {}));
}

TEST(FindDriver, WhatTheImageShipsIsCoveredAndIsNotTheRealOne) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library("/usr/local/cuda-12.4/compat/libcuda.so.550.1");
    root.link("/usr/local/cuda-12.4/compat/libcuda.so.1", "libcuda.so.550.1");
    root.library("/usr/local/cuda-12.4/compat/lib.real/libcuda.so.550.2");
    root.link("/usr/local/cuda", "cuda-12.4");
    const auto driver = find_driver(*Root::open(root.path()), {}, Place::container);
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, std::string(kLib) + "/libcuda.so.535.2");
    EXPECT_EQ(files_of(driver->libraries[0]),
              (Files{std::string(kLib) + "/libcuda.so.535.2", "/usr/local/cuda-12.4/compat/libcuda.so.550.1",
                     "/usr/local/cuda-12.4/compat/lib.real/libcuda.so.550.2"}));
}

TEST(FindDriver, WhatTheProgramsOwnPathNamesFirstIsTheRealOne) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library("/usr/local/cuda/compat/libcuda.so.550.1");
    root.link("/usr/local/cuda/compat/libcuda.so.1", "libcuda.so.550.1");
    const auto driver = find_driver(*Root::open(root.path()), {"/none:relative:/usr/local/cuda/compat", ""},
                                    Place::container);
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, "/usr/local/cuda/compat/libcuda.so.550.1");
    EXPECT_EQ(driver->libraries[0].files.size(), 2U);
}

TEST(FindDriver, WhatTheImageShipsIsNoDriver) {
    const TempRoot root;
    root.library("/usr/local/cuda/compat/libcuda.so.1");
    EXPECT_FALSE(find_driver(*Root::open(root.path()), {}, Place::container));
}

TEST(FindDriver, CondasIsCoveredAndIsNotTheRealOne) {
    const TempRoot root;
    install(root, kLib, "535.2");
    install(root, "/opt/conda/cuda-compat", "570.1");
    const auto driver = find_driver(*Root::open(root.path()), {}, Place::container);
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->libraries[0].real.path, std::string(kLib) + "/libcuda.so.535.2");
    EXPECT_EQ(files_of(driver->libraries[0]),
              (Files{std::string(kLib) + "/libcuda.so.535.2", "/opt/conda/cuda-compat/libcuda.so.570.1"}));
}

TEST(FindDriver, WhatAFileIsDecidesAndNotWhatALinkIsCalled) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library_named("/usr/lib/security/pam_limits.so", "");
    root.library_named(std::string(kLib) + "/libselinux.so.1", "libselinux.so.1");
    root.file("/usr/bin/cmp", "no library");
    int number = 0;
    for (const char* target :
         {"/usr/lib/security/pam_limits.so", "/usr/lib/x86_64-linux-gnu/libselinux.so.1", "/usr/bin/cmp"})
        for (const char* base : {"libcuda.so.1.", "libnvidia-ml.so.", "libnvidia-opencl.so."})
            for (const char* folder :
                 {"/opt/conda/cuda-compat/", "/usr/local/cuda/compat/", "/opt/own/", "/usr/lib/"})
                root.link(folder + std::string(base) + std::to_string(++number), target);
    for (const Place place : {Place::host, Place::container}) {
        const auto driver = find_driver(*Root::open(root.path()), {"/opt/own", ""}, place);
        ASSERT_TRUE(driver) << driver.error().text;
        ASSERT_EQ(driver->libraries.size(), 2U);
        EXPECT_EQ(files_of(driver->libraries[0]), Files{std::string(kLib) + "/libcuda.so.535.2"});
        EXPECT_EQ(files_of(driver->libraries[1]), Files{std::string(kLib) + "/libnvidia-ml.so.535.2"});
        EXPECT_EQ(driver->uncovered, Files{});
    }
}

TEST(FindDriver, ADriversNameAloneIsNoDriver) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library_named("/usr/lib/libcuda.so.4", "libother.so.1");
    root.library_named("/usr/lib/libnvidia-opencl.so.1", "libcuda.so.1.1");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    ASSERT_EQ(driver->libraries.size(), 2U);
    EXPECT_EQ(driver->libraries[0].files.size(), 1U);
}

TEST(FindDriver, ALinkOfTheLoadersToADriverByAnotherNameIsRefused) {
    for (const char* link : {"/usr/lib/libcuda.so.1", "/opt/own/libcuda.so.1"}) {
        const TempRoot root;
        install(root, kLib, "535.2");
        root.library_named("/srv/mine.bin", "libcuda.so.1");
        root.link(link, "/srv/mine.bin");
        for (const Place place : {Place::host, Place::container}) {
            const auto driver = find_driver(*Root::open(root.path()), {"/opt/own", ""}, place);
            ASSERT_FALSE(driver) << link;
            EXPECT_EQ(driver.error().kind, ClientError::Kind::refused);
            EXPECT_TRUE(driver.error().text.starts_with('"' + std::string(link) +
                                                        "\": it leads to \"/srv/mine.bin\""));
        }
    }
    // The loader's cache leads to files of any name.
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library_named("/srv/mine.bin", "libcuda.so.1");
    root.file("/etc/ld.so.cache", loader_cache({{"libcuda.so.1", "/srv/mine.bin"}}));
    EXPECT_FALSE(find_driver(*Root::open(root.path()), {}, Place::container));
    // In an image, so does a folder in which drivers are shipped.
    const TempRoot image;
    install(image, kLib, "535.2");
    image.library_named("/srv/mine.bin", "libcuda.so.1");
    image.link("/opt/conda/cuda-compat/libcuda.so.1", "/srv/mine.bin");
    EXPECT_FALSE(find_driver(*Root::open(image.path()), {}, Place::container));
}

TEST(FindDriver, OnAHostWhatUsersCanWriteToIsNotCoveredAndSaid) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
    const TempRoot root;
    install(root, kLib, "535.2");
    const std::string shipped = "/opt/conda/cuda-compat/libcuda.so.1";
    root.library(shipped);
    const auto found = [&root](const LoaderEnvironment& environment = {}) {
        auto driver = find_driver(*Root::open(root.path()), environment);
        EXPECT_TRUE(driver);
        return driver ? *driver : Driver{};
    };
    EXPECT_EQ(found().libraries.at(0).files.size(), 2U);
    EXPECT_EQ(found().uncovered, Files{});
    const std::string by =
        "\"/opt/conda/cuda-compat/libcuda.so.1\": this library of the NVIDIA driver isn't covered, "
        "because others than root can write to ";
    for (const char* whose :
         {"/opt/conda/cuda-compat/libcuda.so.1", "/opt/conda/cuda-compat", "/opt/conda", "/opt"}) {
        ASSERT_EQ(chown(root.at(whose).c_str(), 1000, 1000), 0);
        const Driver driver = found();
        EXPECT_EQ(driver.libraries.at(0).files.size(), 1U) << whose;
        ASSERT_EQ(driver.uncovered.size(), 1U) << whose;
        EXPECT_TRUE(driver.uncovered[0].starts_with(by + '"' + whose + "\";")) << driver.uncovered[0];
        EXPECT_EQ(found({"", "/opt/conda"}).libraries.at(0).files.size(), 2U)
            << "the job's own environment names it";
        ASSERT_EQ(chown(root.at(whose).c_str(), 0, 0), 0);
    }
    // A link to what is root's alone, by way of a folder that isn't.
    root.library("/srv/cuda-compat/libcuda.so.1");
    root.link("/opt/conda/envs/a", "/srv");
    EXPECT_EQ(found().libraries.at(0).files.size(), 3U);
    ASSERT_EQ(chmod(root.at("/opt/conda/envs").c_str(), 0777), 0);
    EXPECT_EQ(found().libraries.at(0).files.size(), 2U);
    EXPECT_EQ(found().uncovered.size(), 1U);
    // Nor does a link of root's to a user's file count.
    root.library("/home/u/libcuda.so.7");
    ASSERT_EQ(chown(root.at("/home/u/libcuda.so.7").c_str(), 1000, 1000), 0);
    root.link("/usr/local/cuda-12/compat/libcuda.so.1", "/home/u/libcuda.so.7");
    EXPECT_EQ(found().libraries.at(0).files.size(), 2U);
    EXPECT_EQ(found().uncovered.size(), 2U);
}

TEST(FindDriver, WhatCantBeLookedAtIsNotTakenForMissing) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library("/opt/own/libcuda.so.1");
    const Descriptor held(open(root.at("/opt/own/libcuda.so.1").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(fcntl(held.fd(), F_SETSIG, SIGURG), 0);
    if (fcntl(held.fd(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases here";
    // The loader would wait for the lease's end, and get the file.
    const auto driver = find_driver(*Root::open(root.path()), {"/opt/own", ""});
    ASSERT_FALSE(driver);
    EXPECT_TRUE(driver.error().text.starts_with("\"/opt/own/libcuda.so.1\": it can't be looked at: "));
}

TEST(FindDriver, FilesOfTheKernelAreNotRead) {
    for (const char* file : {"/proc/version", "/proc/self/maps", "/sys/kernel/notes"}) {
        const Descriptor there(open(file, O_PATH | O_CLOEXEC));
        EXPECT_FALSE(open_stored(there)) << file;
    }
    EXPECT_EQ(stored_text_of(*Root::open("/"), "/proc/version", 100), "");
    const TempRoot root;
    root.file("/a", "0123456789");
    EXPECT_EQ(stored_text_of(*Root::open(root.path()), "/a", 4), "0123");
    EXPECT_EQ(stored_text_of(*Root::open(root.path()), "/none", 4), "");
}

TEST(FindDriver, ItIsFoundWhereOtherMountsShowIt) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const TempRoot root;
    install(root, "/usr/lib/x86_64-linux-gnu", "535.2");
    for (const char* folder : {"/srv/jail", "/srv/a b", "/srv/over/lib", "/srv/lib"}) root.folder(folder);
    root.file("/srv/one.bin", "");
    root.library("/elsewhere/x86_64-linux-gnu/libcuda.so.535.2");
    const pid_t child = fork();
    if (child == 0) {
        const auto bind = [&root](const char* from, const char* to) {
            return mount(root.at(from).c_str(), root.at(to).c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
        };
        // Of those over /srv/over and /srv/lib nothing is to be seen.
        if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            !bind("/usr/lib/x86_64-linux-gnu", "/srv/jail") || !bind("/usr", "/srv/a b") ||
            !bind("/usr/lib/x86_64-linux-gnu/libcuda.so.535.2", "/srv/one.bin") ||
            !bind("/usr/lib/x86_64-linux-gnu", "/srv/over/lib") ||
            mount("none", root.at("/srv/over").c_str(), "tmpfs", 0, nullptr) != 0 ||
            !bind("/usr/lib", "/srv/lib") || !bind("/elsewhere", "/srv/lib"))
            _exit(2);
        const auto driver = find_driver(*Root::open(root.path()), {});
        const Files wanted = {"/usr/lib/x86_64-linux-gnu/libcuda.so.535.2", "/srv/jail/libcuda.so.535.2",
                              "/srv/a b/lib/x86_64-linux-gnu/libcuda.so.535.2", "/srv/one.bin"};
        if (!driver || files_of(driver->libraries[0]) != wanted)
            for (const auto& file : driver ? files_of(driver->libraries[0]) : Files{"none"})
                std::fprintf(stderr, "%s\n", file.c_str());
        _exit(driver && files_of(driver->libraries[0]) == wanted ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(FindDriver, MoreFilesThanCanBeCoveredAreRefused) {
    const TempRoot root;
    for (int i = 1; i < 300; ++i) root.library(std::string(kLib) + "/libcuda.so." + std::to_string(i));
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ClientError::Kind::refused);
    EXPECT_TRUE(driver.error().text.starts_with("libcuda.so: there are more than 256 files of this name"));
}

TEST(FindDriver, WithoutNvml) {
    const TempRoot root;
    root.library(std::string(kLib) + "/libcuda.so.1");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    ASSERT_EQ(driver->libraries.size(), 1U);
    EXPECT_EQ(driver->libraries[0].real.path, std::string(kLib) + "/libcuda.so.1");
}

TEST(FindDriver, NoneIsAnErrorThatSaysWhatToTry) {
    const TempRoot root;
    root.library(std::string(kLib) + "/libnvidia-ml.so.1");
    root.link(std::string(kLib) + "/libcuda.so.1", "libcuda.so.535.2");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ClientError::Kind::failed);
    EXPECT_NE(driver.error().text.find("no libcuda.so.1 in the loader's folders. Try: "), std::string::npos);
}

}  // namespace
}  // namespace cgpu::client
