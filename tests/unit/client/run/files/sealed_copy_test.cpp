#include "client/run/files/sealed_copy.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "client/run/files/root.hpp"

namespace cgpu::client {
namespace {

std::string content_at(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SealedCopy, IsTheWholeFileAndNobodyCanChangeIt) {
    const Descriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(lseek(file.fd(), 100, SEEK_SET), 100);
    const Descriptor copy = sealed_copy(file, "copy");
    ASSERT_TRUE(copy);
    EXPECT_TRUE(content_at(by_descriptor(copy)) == content_at("/proc/self/exe"));
    EXPECT_EQ(fcntl(copy.fd(), F_GETFL) & O_ACCMODE, O_RDONLY);
    // Opened again for writing, as its owner may.
    const Descriptor again(open(by_descriptor(copy).c_str(), O_RDWR | O_CLOEXEC));
    if (again) {
        EXPECT_LT(write(again.fd(), "x", 1), 0);
        EXPECT_EQ(errno, EPERM);
        EXPECT_NE(ftruncate(again.fd(), 0), 0);
    }
    EXPECT_NE(fcntl(copy.fd(), F_ADD_SEALS, F_SEAL_SEAL), 0) << "nor can the seals be changed";
}

TEST(SealedCopy, OfWhatCanNotBeReadIsNone) {
    const Descriptor folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_FALSE(sealed_copy(folder, "copy"));
}

}  // namespace
}  // namespace cgpu::client
