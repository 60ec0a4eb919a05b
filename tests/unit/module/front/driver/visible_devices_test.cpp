#include "module/front/driver/visible_devices.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <string>

namespace cgpu::front {
namespace {

const std::string kFirst = "GPU-11111111-1111-1111-1111-111111111111";
const std::string kSecond = "GPU-22222222-2222-2222-2222-222222222222";

/// What the driver reads; `unchanged`: what the job has set.
std::string read_for(const char* asked, const std::string& own) {
    std::array<char, 1024> to{};
    return own_devices(asked, own.c_str(), to.data(), to.size()) ? to.data() : "unchanged";
}

TEST(VisibleDevices, NumbersAreTheJobsOwn) {
    EXPECT_EQ(read_for("0", kSecond), kSecond) << "its only GPU, whatever its number on the node is";
    EXPECT_EQ(read_for("1,0", kFirst + "," + kSecond), kSecond + "," + kFirst);
    EXPECT_EQ(read_for(" 1 ", kFirst + "," + kSecond), kSecond);
    EXPECT_EQ(read_for("0,", kFirst), kFirst);
}

TEST(VisibleDevices, ANumberThatIsNotThereEndsTheList) {
    EXPECT_EQ(read_for("1,0", kFirst), "-1");
    EXPECT_EQ(read_for("0,1", kFirst), kFirst);
    EXPECT_EQ(read_for("0,-1,1", kFirst + "," + kSecond), kFirst);
    EXPECT_EQ(read_for("99999", kFirst), "unchanged") << "no number of a GPU";
    EXPECT_EQ(read_for("9999", kFirst), "-1");
}

TEST(VisibleDevices, EverythingElseIsTheDrivers) {
    for (const char* asked : {"", "-1", "GPU-1111", "MIG-0", "x", "NoDevFiles"})
        EXPECT_EQ(read_for(asked, kFirst), "unchanged") << asked;
    EXPECT_EQ(read_for(kSecond.c_str(), kFirst), "unchanged");
    for (const char* own : {"", "all", "void", "0", "0,1", "GPU-1111"})
        EXPECT_EQ(read_for("0", own), "unchanged") << own;
    EXPECT_EQ(read_for("0", kFirst + ",1"), "unchanged");
}

TEST(VisibleDevices, WhatDoesNotFitIsLeft) {
    std::array<char, 8> few{};
    EXPECT_FALSE(own_devices("0", kFirst.c_str(), few.data(), few.size()));
    EXPECT_EQ(few[0], '\0');
    std::string long_list = kFirst;
    for (int i = 0; i < 100; ++i) long_list += "," + kFirst;
    std::string all = "0";
    for (int i = 1; i < 100; ++i) all += "," + std::to_string(i);
    EXPECT_EQ(read_for(all.c_str(), long_list), "unchanged");
}

class VisibleDevicesOf : public testing::TestWithParam<const char*> {};

TEST_P(VisibleDevicesOf, TheLibraryReadsThemAndTheEnvironmentStays) {
    void* const library = dlopen(GetParam(), RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto* const read = reinterpret_cast<const char* (*)(const char*)>(dlsym(library, "read_the_variable"));
    ASSERT_NE(read, nullptr);
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    setenv("NVIDIA_VISIBLE_DEVICES", kSecond.c_str(), 1);
    setenv("SOMETHING_ELSE", "0", 1);
    for (int twice = 0; twice < 2; ++twice) {
        let_read_own_devices(library);
        EXPECT_EQ(std::string(read("CUDA_VISIBLE_DEVICES")), kSecond);
        EXPECT_EQ(std::string(read("SOMETHING_ELSE")), "0");
        EXPECT_EQ(read("NOTHING_THERE"), nullptr);
        EXPECT_EQ(std::string(getenv("CUDA_VISIBLE_DEVICES")), "0") << "the program's own";
    }
    unsetenv("NVIDIA_VISIBLE_DEVICES");
    EXPECT_EQ(std::string(read("CUDA_VISIBLE_DEVICES")), "0");
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(read("CUDA_VISIBLE_DEVICES"), nullptr);
    dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Bindings, VisibleDevicesOf, testing::Values(CGPU_TEST_LAZY, CGPU_TEST_NOW),
                         [](const auto& binding) { return binding.index == 0 ? "lazy" : "now"; });

}  // namespace
}  // namespace cgpu::front
