#include "client/run/driver/front_image.hpp"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

Result<Image> fit(const std::string& front, const std::string& driver) {
    return fit_front(front, Descriptor(open(driver.c_str(), O_RDONLY | O_CLOEXEC)), driver);
}

TEST(FittedFront, WithoutAnInstalledModule) {
    const TempRoot root;
    root.library("/libcuda.so.535");
    const auto made = fit(root.at("/front"), root.at("/libcuda.so.535"));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, root.at("/front") + ": it can't be read. Try: install the cgpu module.");
}

TEST(FittedFront, ADriverThatIsNoLibrary) {
    const TempRoot root;
    root.library("/front");
    root.file("/libcuda.so.535", "not an ELF file");
    const auto made = fit(root.at("/front"), root.at("/libcuda.so.535"));
    ASSERT_FALSE(made);
    EXPECT_TRUE(made.error().text.starts_with(root.at("/libcuda.so.535") + ": ")) << made.error().text;
}

TEST(FittedFront, ADriverOfAnImpossibleSizeIsNotReadWhole) {
    const TempRoot root;
    root.library("/front");
    root.library("/libcuda.so.535");
    std::filesystem::resize_file(root.at("/libcuda.so.535"), std::uintmax_t{1} << 40);
    const auto made = fit(root.at("/front"), root.at("/libcuda.so.535"));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, root.at("/libcuda.so.535") +
                                     ": not a usable ELF file: its section headers have another size. Try: "
                                     "reinstall the NVIDIA driver.");
}

TEST(FittedFront, ALibraryThatIsNoFront) {
    // A real library with exports: this test's own program.
    const std::string library = std::filesystem::canonical("/proc/self/exe").native();
    const auto made = fit(library, library);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, library +
                                     ": not a usable ELF file: it has no room for more exports. Try: "
                                     "install the newest release of cgpu.");
}

}  // namespace
}  // namespace cgpu::client
