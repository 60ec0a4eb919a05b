#include "module/front/base/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace cgpu::front {
namespace {

/// In a process of its own with this limit of descriptors and without a standard input: the number under
/// which a new descriptor is kept.
int kept_under(rlim_t most) {
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    close(STDIN_FILENO);
    const int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (opened != STDIN_FILENO) return -1;
    return Descriptor::adopt(opened).usable();
}

TEST(Descriptor, IsKeptFarFromTheProgramsNumbers) {
    EXPECT_EXIT(std::exit(kept_under(1024) >= 100 ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(Descriptor, IsKeptAwayFromTheStandardOnesWhereThereAreFew) {
    EXPECT_EXIT(std::exit(kept_under(64) >= 3 ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(Descriptor, AnotherFileUnderItsNumberIsNotUsed) {
    const Descriptor descriptor = Descriptor::adopt(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int number = descriptor.usable();
    ASSERT_GE(number, 0);
    const int other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(dup2(other, number), number);
    EXPECT_EQ(descriptor.usable(), -1);
    close(other);
    close(number);
}

}  // namespace
}  // namespace cgpu::front
