#include "client/run/fitted_front.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/temp_root.hpp"

namespace cgpu::client {
namespace {

TEST(FittedFront, WithoutAnInstalledModule) {
    const TempRoot root;
    root.library("/libcuda.so.535");
    const auto made =
        write_fitted_front({root.at("/front"), root.at("/libcuda.so.535"), root.at("/made/front")});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, root.at("/front") + ": it can't be read. Try: install the cgpu module.");
    EXPECT_FALSE(std::filesystem::exists(root.at("/made")));
}

TEST(FittedFront, ADriverThatIsNoLibrary) {
    const TempRoot root;
    root.library("/front");
    root.file("/libcuda.so.535", "not an ELF file");
    const auto made =
        write_fitted_front({root.at("/front"), root.at("/libcuda.so.535"), root.at("/made/front")});
    ASSERT_FALSE(made);
    EXPECT_TRUE(made.error().text.starts_with(root.at("/libcuda.so.535") + ": ")) << made.error().text;
    EXPECT_FALSE(std::filesystem::exists(root.at("/made")));
}

TEST(FittedFront, AgainstItselfALibraryStaysAsItIs) {
    const TempRoot root;
    // A real library with exports: the one that this test itself has loaded.
    const std::string library = std::filesystem::canonical("/proc/self/exe").native();
    const auto made = write_fitted_front({library, library, root.at("/made/front")});
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(std::filesystem::file_size(root.at("/made/front")), std::filesystem::file_size(library));
    EXPECT_EQ(std::filesystem::status(root.at("/made/front")).permissions(), std::filesystem::perms(0755));
}

}  // namespace
}  // namespace cgpu::client
