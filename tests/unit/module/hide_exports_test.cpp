#include "core/elf/hide_exports.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <iterator>

namespace cgpu::elf {
namespace {

std::vector<std::byte> file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

const std::vector<std::byte>& sample() {
    static const std::vector<std::byte> bytes = file(CGPU_SAMPLE_LIBRARY);
    return bytes;
}

TEST(HideExports, NamesWhatAnImageDefines) {
    const auto names = exported_symbols(reader(sample()));
    ASSERT_TRUE(names) << names.error();
    EXPECT_EQ(*names, (std::set<std::string>{"cuOne", "cuTwo", "cuThree"}));
}

TEST(HideExports, WhatTheDriverLacksIsFoundNoMore) {
    const auto hidden = hide_exports(sample(), {"cuOne", "cuThree", "cuOther"});
    ASSERT_TRUE(hidden) << hidden.error();
    ASSERT_EQ(hidden->size(), sample().size());
    EXPECT_EQ(exported_symbols(reader(*hidden)), (std::set<std::string>{"cuOne", "cuThree"}));

    const std::string path = ::testing::TempDir() + "/hide_exports_test_sample.so";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(hidden->data()), static_cast<std::streamsize>(hidden->size()));
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_NE(dlsym(library, "cuOne"), nullptr);
    EXPECT_EQ(dlsym(library, "cuTwo"), nullptr);
    using Function = int (*)();
    EXPECT_EQ(reinterpret_cast<Function>(dlsym(library, "cuThree"))(), 32);  // calls its own cuTwo still
    dlclose(library);
    std::remove(path.c_str());
}

TEST(HideExports, NothingToHideChangesNothing) {
    EXPECT_EQ(hide_exports(sample(), *exported_symbols(reader(sample()))), sample());
}

TEST(HideExports, WhatIsNoImageIsRefused) {
    EXPECT_FALSE(exported_symbols(reader({})));
    const std::vector<std::byte> zeros(4096);
    const auto refused = hide_exports(zeros, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().find("ELF"), std::string::npos);
}

RC_GTEST_PROP(HideExports, ACorruptImageNeverLeadsOutOfIt, ()) {
    std::vector<std::byte> bytes = sample();
    if (*rc::gen::arbitrary<bool>()) bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
    const int flips = *rc::gen::inRange(0, 20);
    for (int i = 0; i < flips && !bytes.empty(); ++i) {
        // The headers matter most: the first 64 bytes and the section headers at the end.
        const auto places = std::min<std::size_t>(bytes.size(), 2048);
        const auto place = *rc::gen::inRange<std::size_t>(0, places);
        const bool at_end = *rc::gen::arbitrary<bool>();
        bytes[at_end ? bytes.size() - 1 - place : place % 64] =
            std::byte{*rc::gen::arbitrary<std::uint8_t>()};
    }
    const std::vector<std::byte> tight(bytes);  // capacity == size: a sanitizer sees any read beyond
    const auto names = exported_symbols(reader(tight));
    const auto hidden = hide_exports(tight, {});
    RC_ASSERT(names.has_value() == hidden.has_value());
    if (hidden) RC_ASSERT(hidden->size() == tight.size());
}

}  // namespace
}  // namespace cgpu::elf
