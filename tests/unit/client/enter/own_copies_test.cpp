#include "client/enter/own_copies.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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
        for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-opencl.so.1"})
            ASSERT_EQ(chown(folder.at(std::string("/home/user/lib/") + name).c_str(), kUser, kUser), 0);
        chmod(folder.path().c_str(), 0755);
        chmod(folder.at("/root").c_str(), 0700);
        auto opened = client::Root::open(folder.path());
        ASSERT_TRUE(opened);
        root.emplace(std::move(*opened));
        auto found = client::find_driver(*root, {});
        ASSERT_TRUE(found) << found.error().text;
        system = found->libraries;
    }

    const client::TempRoot folder;
    std::optional<client::Root> root;
    std::vector<client::DriverLibrary> system;
};

TEST_F(OwnCopies, AreWhatTheCallersEnvironmentLeadsToAndTheCallerMayRead) {
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/home/user/lib:/root/lib", ""}, system);
        // There is no front for NVML here.
        return copies && copies->size() == 2 && copies->at(0).cover == "/run/cgpu/front/libcuda.so.1" &&
               copies->at(0).file.path == "/home/user/lib/libcuda.so.1" &&
               copies->at(1).cover == "/run/cgpu/front/nothing" &&
               copies->at(1).file.path == "/home/user/lib/libnvidia-opencl.so.1";
    }));
}

TEST_F(OwnCopies, SystemsFilesAreNotAmongThem) {
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/usr/lib/x86_64-linux-gnu", ""}, system);
        return copies && copies->empty();
    }));
}

TEST_F(OwnCopies, TooManyAreRefused) {
    for (int i = 0; i < 300; ++i) {
        const std::string path = "/home/user/many/libcuda.so." + std::to_string(i);
        folder.library(path);
        ASSERT_EQ(chown(folder.at(path).c_str(), kUser, kUser), 0);
    }
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/home/user/many", ""}, system);
        return !copies && copies.error().kind == client::ClientError::Kind::refused;
    }));
}

/// What the caller's LD_LIBRARY_PATH of /home/user/x leads to.
class Tricks : public OwnCopies {
  protected:
    /// "": these copies; else what the refusal says.
    std::string outcome(const std::vector<std::string>& copies,
                        const client::LoaderEnvironment& environment = {"/home/user/x", ""}) {
        std::string said;
        const std::string answer = folder.at("/answer");
        const bool ran = as_set_uid_of_user([&] {
            const auto found = own_copies(*root, environment, system);
            if (!found) std::ofstream(answer) << found.error().text;
            std::vector<std::string> paths;
            for (const Copy& copy : found ? *found : std::vector<Copy>{}) paths.push_back(copy.file.path);
            return !found || paths == copies;
        });
        EXPECT_TRUE(ran) << "other files would be covered";
        std::ifstream in(answer);
        std::getline(in, said, '\0');
        in.close();
        std::filesystem::remove(answer);
        return said;
    }
    void own(const std::string& path) const { ASSERT_EQ(lchown(folder.at(path).c_str(), kUser, kUser), 0); }
};

TEST_F(Tricks, ALinkToAnyFileOfTheSystemCoversNothing) {
    folder.library_named("/usr/lib/pam_limits.so", "");
    folder.library_named("/usr/lib/libselinux.so.1", "libselinux.so.1");
    folder.file("/usr/bin/script", "#!/bin/sh\n");
    std::filesystem::copy_file("/proc/self/exe", folder.at("/usr/bin/su"));
    std::filesystem::permissions(folder.at("/usr/bin/su"), std::filesystem::perms(04755));
    for (const char* target :
         {"/usr/lib/pam_limits.so", "/usr/lib/libselinux.so.1", "/usr/bin/script", "/usr/bin/su"})
        for (const char* name : {"libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-opencl.so.1",
                                 "libcuda.so.535.1", "libnvidia-opencl.so.9"}) {
            std::filesystem::remove_all(folder.at("/home/user/x"));
            folder.link(std::string("/home/user/x/") + name, target);
            EXPECT_EQ(outcome({}), "") << name << " to " << target;
        }
}

TEST_F(Tricks, WhatBearsADriversNameAndIsNoneIsNotCovered) {
    // A file of root's that has a driver's name itself, by chance or by a hard link.
    folder.library_named("/srv/libcuda.so.1", "libother.so.1");
    folder.link("/home/user/x/libcuda.so.1", "/srv/libcuda.so.1");
    EXPECT_EQ(outcome({}), "");
    folder.library_named("/home/user/x/libnvidia-opencl.so.1", "libother.so.1");
    own("/home/user/x/libnvidia-opencl.so.1");
    EXPECT_EQ(outcome({}), "");
}

TEST_F(Tricks, ADriverOfAnotherOwnerIsRefusedByItsPath) {
    folder.library("/home/other/libcuda.so.1");
    folder.link("/home/user/x/libcuda.so.1", "/home/other/libcuda.so.1");
    EXPECT_TRUE(outcome({}).starts_with(
        "\"/home/other/libcuda.so.1\": LD_LIBRARY_PATH leads to this library of the NVIDIA driver, which is "
        "neither the system's nor yours"));
    EXPECT_TRUE(outcome({}, {"/home/other", ""}).starts_with("\"/home/other/libcuda.so.1\""));
    ASSERT_EQ(chown(folder.at("/home/other/libcuda.so.1").c_str(), 1234, 1234), 0);
    EXPECT_TRUE(outcome({}).starts_with("\"/home/other/libcuda.so.1\""));
    // In a folder that isn't the loader's, it is left uncovered.
    folder.library("/home/other/cuda-compat/libcuda.so.1");
    EXPECT_EQ(outcome({}, {"", "/home/other"}), "");
    // A hard link has the owner of the file.
    std::filesystem::remove(folder.at("/home/user/x/libcuda.so.1"));
    std::filesystem::create_hard_link(folder.at("/home/other/libcuda.so.1"),
                                      folder.at("/home/user/x/libcuda.so.1"));
    EXPECT_TRUE(outcome({}).starts_with("\"/home/user/x/libcuda.so.1\""));
}

TEST_F(Tricks, ADriverByAnotherNameIsRefused) {
    folder.library_named("/home/user/x/mine.bin", "libcuda.so.1");
    own("/home/user/x/mine.bin");
    folder.link("/home/user/x/libcuda.so.1", "mine.bin");
    EXPECT_TRUE(
        outcome({}).starts_with("\"/home/user/x/libcuda.so.1\": it leads to \"/home/user/x/mine.bin\""));
    std::filesystem::remove(folder.at("/home/user/x/libcuda.so.1"));
    EXPECT_EQ(outcome({}), "") << "no loader comes to it";
}

TEST_F(Tricks, TheRealNameDecidesWhatCoversIt) {
    folder.library("/home/user/x/libcuda.so.9");
    own("/home/user/x/libcuda.so.9");
    folder.link("/home/user/x/libnvidia-opencl.so.1", "libcuda.so.9");
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const auto copies = own_copies(*root, {"/home/user/x", ""}, system);
        return copies && copies->size() == 1 && copies->at(0).cover == "/run/cgpu/front/libcuda.so.1";
    }));
    folder.link("/home/user/x/libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
    EXPECT_EQ(outcome({"/home/user/x/libcuda.so.9"}), "") << "the system's own is covered already";
}

TEST_F(Tricks, WhatWasExchangedSinceIsNotMountedOver) {
    folder.library("/run/cgpu/front/libcuda.so.1");
    const std::string path = "/home/user/lib/libcuda.so.1";
    const auto covered = [&](const std::string& what) {
        return as_set_uid_of_user([&] {
            if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
                return false;
            // Mounts are of a namespace.
            const auto inside = client::Root::open(folder.path());
            auto copies = own_copies(*inside, {"/home/user/lib", ""}, system);
            if (!copies || copies->empty()) return false;
            copies->resize(1);
            if (what == "exchanged") {
                std::filesystem::rename(folder.at(path), folder.at("/home/user/lib/old"));
                std::filesystem::copy_file("/proc/self/exe", folder.at(path));
            } else if (what == "linked") {
                std::filesystem::rename(folder.at(path), folder.at("/home/user/lib/old"));
                std::filesystem::create_symlink("old", folder.at(path));
            } else if (what == "given away") {
                if (chown(folder.at(path).c_str(), 0, 0) != 0) return false;
            }
            const auto done = cover(*copies, *inside);
            const bool refused = !done && done.error().text.find("it was exchanged") != std::string::npos;
            return what.empty() ? done.has_value() : refused;
        });
    };
    EXPECT_TRUE(covered(""));
    EXPECT_TRUE(covered("linked"));
    std::filesystem::remove(folder.at(path));
    std::filesystem::rename(folder.at("/home/user/lib/old"), folder.at(path));
    EXPECT_TRUE(covered("exchanged"));
    std::filesystem::rename(folder.at("/home/user/lib/old"), folder.at(path));
    EXPECT_TRUE(covered("given away"));
}

}  // namespace
}  // namespace cgpu::enter
