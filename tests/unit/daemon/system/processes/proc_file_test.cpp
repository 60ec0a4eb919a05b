#include "daemon/system/processes/proc_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <string>

#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::system {
namespace {

TEST(ProcFile, IsReadToItsEndIfThatIsNear) {
    const cgpu::test::TempFolder folder;
    const std::string text(100'000, 'x');
    std::ofstream(folder / "short") << text;
    EXPECT_EQ(read_text(folder / "short"), text);
}

TEST(ProcFile, OfALongOneOnlyTheBeginningIsTaken) {
    constexpr std::size_t kBound = std::size_t{8} << 20;
    const cgpu::test::TempFolder folder;
    std::ofstream(folder / "long") << std::string(kBound - 1, 'x') << std::string(kBound, 'y');
    const auto text = read_text(folder / "long");
    ASSERT_TRUE(text);
    EXPECT_GE(text->size(), kBound);
    EXPECT_LE(text->size(), kBound + 16384);
    EXPECT_EQ(text->find('y'), kBound - 1);
}

TEST(ProcFile, AFaultIsNoText) {
    const cgpu::test::TempFolder folder;
    EXPECT_EQ(read_text(folder / "none"), tl::unexpected(ENOENT));
    EXPECT_EQ(read_text(folder.path()), tl::unexpected(EISDIR));
}

}  // namespace
}  // namespace cgpu::system
