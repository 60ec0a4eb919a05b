#include "client/run/driver/driver_files.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/run/driver/loader_cache.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

using Files = std::vector<std::string>;
constexpr const char* kLib = "/usr/lib/x86_64-linux-gnu";

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
    ASSERT_EQ(driver->size(), 2U);
    const std::string cuda = std::string(kLib) + "/libcuda.so.535.104.05";
    EXPECT_EQ((*driver)[0].soname, "libcuda.so.1");
    EXPECT_EQ((*driver)[0].real, cuda);
    EXPECT_EQ((*driver)[0].files, Files{cuda});
    EXPECT_EQ((*driver)[1].soname, "libnvidia-ml.so.1");
    EXPECT_EQ((*driver)[1].real, std::string(kLib) + "/libnvidia-ml.so.535.104.05");
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
    EXPECT_EQ((*driver)[0].real, files[0]) << "without a cache the loader looks in the system's folders only";
    EXPECT_EQ((*driver)[0].files, files);

    root.file("/etc/ld.so.cache", loader_cache({{"libcuda.so.1", "/opt/gone/libcuda.so.1"},
                                                {"libcuda.so.1", "/opt/more/libcuda.so.1"},
                                                {"libcuda.so.1", "/opt/driver/libcuda.so.1"},
                                                {"libnvidia-ml.so.1", "/opt/driver/libnvidia-ml.so.1"}}));
    driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].real, "/opt/more/libcuda.so.550.3");
    EXPECT_EQ((*driver)[0].files.size(), 4U);
    EXPECT_EQ((*driver)[1].real, "/opt/driver/libnvidia-ml.so.535.2");
    driver = find_driver(*Root::open(root.path()), {"/opt/driver", ""});
    EXPECT_EQ((*driver)[0].real, "/opt/driver/libcuda.so.535.2");
}

TEST(FindDriver, AnImagesOlderOneIsNotTheRealOneWhileTheLinkIsMissing) {
    const TempRoot root;
    root.library(std::string(kLib) + "/libcuda.so.580.1");
    root.library("/usr/local/cuda/compat/libcuda.so.535.2");
    root.link("/usr/local/cuda/compat/libcuda.so.1", "libcuda.so.535.2");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].real, std::string(kLib) + "/libcuda.so.580.1");
}

TEST(FindDriver, AFolderReachedTwiceCountsOnce) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.link("/lib", "usr/lib");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].files.size(), 1U);
}

TEST(FindDriver, TwoHardLinksAreCoveredEach) {
    const TempRoot root;
    install(root, kLib, "535.2");
    std::filesystem::create_hard_link(root.at(kLib) + "/libcuda.so.535.2", root.at(kLib) + "/libcuda.so.9");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].files.size(), 2U);
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
    EXPECT_EQ((*driver)[0].files, Files{std::string(kLib) + "/libcuda.so.535.2"});
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
    ASSERT_EQ(driver->size(), 4U);
    EXPECT_FALSE((*driver)[0].hidden);
    EXPECT_EQ((*driver)[0].files, Files{std::string(kLib) + "/libcuda.so.535.2"});
    EXPECT_FALSE((*driver)[1].hidden);
    EXPECT_TRUE((*driver)[2].hidden);
    EXPECT_EQ((*driver)[2].files, (Files{"/opt/mine/libnvidia-opencl.so.1", opencl}));
    EXPECT_TRUE((*driver)[3].hidden);
    EXPECT_EQ((*driver)[3].soname, "libcuda.so.1");
    EXPECT_EQ((*driver)[3].files, Files{"/usr/lib/i386-linux-gnu/libcuda.so.535.2"});
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
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].real, std::string(kLib) + "/libcuda.so.535.2");
    EXPECT_EQ((*driver)[0].files,
              (Files{std::string(kLib) + "/libcuda.so.535.2", "/usr/local/cuda-12.4/compat/libcuda.so.550.1",
                     "/usr/local/cuda-12.4/compat/lib.real/libcuda.so.550.2"}));
}

TEST(FindDriver, WhatTheProgramsOwnPathNamesFirstIsTheRealOne) {
    const TempRoot root;
    install(root, kLib, "535.2");
    root.library("/usr/local/cuda/compat/libcuda.so.550.1");
    root.link("/usr/local/cuda/compat/libcuda.so.1", "libcuda.so.550.1");
    const auto driver = find_driver(*Root::open(root.path()), {"/none:relative:/usr/local/cuda/compat", ""});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].real, "/usr/local/cuda/compat/libcuda.so.550.1");
    EXPECT_EQ((*driver)[0].files.size(), 2U);
}

TEST(FindDriver, WhatTheImageShipsIsNoDriver) {
    const TempRoot root;
    root.library("/usr/local/cuda/compat/libcuda.so.1");
    EXPECT_FALSE(find_driver(*Root::open(root.path()), {}));
}

TEST(FindDriver, CondasIsCoveredAndIsNotTheRealOne) {
    const TempRoot root;
    install(root, kLib, "535.2");
    install(root, "/opt/conda/cuda-compat", "570.1");
    const auto driver = find_driver(*Root::open(root.path()), {});
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)[0].real, std::string(kLib) + "/libcuda.so.535.2");
    EXPECT_EQ((*driver)[0].files,
              (Files{std::string(kLib) + "/libcuda.so.535.2", "/opt/conda/cuda-compat/libcuda.so.570.1"}));
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
    ASSERT_EQ(driver->size(), 1U);
    EXPECT_EQ((*driver)[0].real, std::string(kLib) + "/libcuda.so.1");
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
