#include "client/enter/own_copies.hpp"

#include <sys/stat.h>

#include "tests/unit/client/enter/as_set_uid.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::enter {
namespace {

/// A system with a driver, a user's folder with copies of it, and one that only root can read.
class OwnCopies : public ::testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can play a set-uid program";
        folder.library("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
        folder.library("/home/user/lib/libcuda.so.1");
        folder.library("/home/user/lib/libnvidia-ml.so.1");
        folder.library("/home/user/lib/libnvidia-opencl.so.1");
        folder.library("/root/lib/libcuda.so.1");
        chmod(folder.path().c_str(), 0755);
        chmod(folder.at("/root").c_str(), 0700);
        auto opened = client::Root::open(folder.path());
        ASSERT_TRUE(opened);
        root.emplace(std::move(*opened));
        auto found = client::find_driver(*root, {});
        ASSERT_TRUE(found) << found.error().text;
        system = *found;
    }

    const client::TempRoot folder;
    std::optional<client::Root> root;
    std::vector<client::DriverLibrary> system;
};

TEST_F(OwnCopies, AreWhatTheCallersEnvironmentLeadsToAndTheCallerMayRead) {
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/home/user/lib:/root/lib", ""}, system);
        // There is no front for NVML here.
        return copies && *copies == std::vector<Copy>{
                                        {"/run/cgpu/front/libcuda.so.1", "/home/user/lib/libcuda.so.1"},
                                        {"/run/cgpu/front/nothing", "/home/user/lib/libnvidia-opencl.so.1"}};
    }));
}

TEST_F(OwnCopies, SystemsFilesAreNotAmongThem) {
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/usr/lib/x86_64-linux-gnu", ""}, system);
        return copies && copies->empty();
    }));
}

TEST_F(OwnCopies, TooManyAreRefused) {
    for (int i = 0; i < 300; ++i) folder.library("/home/user/many/libcuda.so." + std::to_string(i));
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/home/user/many", ""}, system);
        return !copies && copies.error().kind == client::ClientError::Kind::refused;
    }));
}

}  // namespace
}  // namespace cgpu::enter
