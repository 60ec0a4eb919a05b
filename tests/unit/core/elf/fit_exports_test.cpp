#include "core/elf/fit_exports.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "core/elf/export_room.hpp"

namespace cgpu::elf {
namespace {

using Bytes = std::vector<std::byte>;
constexpr auto kFunction = SymbolKind::function;

Bytes file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

const Bytes& sample() {
    static const Bytes bytes = file(CGPU_SAMPLE_LIBRARY);
    return bytes;
}

const Bytes& front() {
    static const Bytes bytes = file(CGPU_SAMPLE_FRONT);
    return bytes;
}

/// An image loaded by the loader, and removed from the disk at once.
class Loaded {
  public:
    explicit Loaded(const Bytes& image) {
        static int number = 0;
        const std::string path = ::testing::TempDir() + "/fit_exports_" + std::to_string(getpid()) + "_" +
                                 std::to_string(++number);
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
        handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(handle_, nullptr) << dlerror();
        std::remove(path.c_str());
    }
    ~Loaded() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    template <class Function>
    Function* get(const char* name) const {
        return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
    }

  private:
    void* handle_;
};

Exports driver_like(const Bytes& image, const std::vector<std::string>& more) {
    Exports exports = *exported_symbols(reader(image));
    for (const std::string& name : more) exports.emplace(name, kFunction);
    return exports;
}

tl::expected<Bytes, std::string> fitted_copy(const Bytes& image, const Exports& driver) {
    // Of capacity == size, so that a sanitizer sees any access beyond.
    Bytes made(image);
    if (const auto fitted = fit_exports(made, driver); !fitted) return tl::unexpected(fitted.error());
    return made;
}

TEST(ExportedSymbols, AreWhatAnImageDefines) {
    const auto names = exported_symbols(reader(sample()));
    ASSERT_TRUE(names) << names.error();
    EXPECT_EQ(*names, (Exports{{"cuOne", kFunction}, {"cuTwo", kFunction}, {"cuThree", kFunction}}));
}

TEST(ExportedSymbols, WhatIsNoImageIsRefused) {
    EXPECT_FALSE(exported_symbols(reader({})));
    const Bytes zeros(4096);
    const auto refused = fitted_copy(zeros, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().find("ELF"), std::string::npos);
}

TEST(FitExports, ALibraryWithoutRoomForMoreIsNoFront) {
    const auto refused = fitted_copy(sample(), *exported_symbols(reader(sample())));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().find("it has no room for more exports"), std::string::npos) << refused.error();
}

TEST(FitExports, AFunctionThatOnlyTheDriverHasLeadsToAStub) {
    Exports driver = driver_like(front(), {"cuNew", "cuNewer_v2"});
    driver.erase("cuGone");
    driver.emplace("cuData", SymbolKind::object);
    const auto fitted = fitted_copy(front(), driver);
    ASSERT_TRUE(fitted) << fitted.error();
    EXPECT_EQ(fitted->size(), front().size());
    driver.erase("cuData");
    EXPECT_EQ(*exported_symbols(reader(*fitted)), driver);

    const Loaded library(*fitted);
    EXPECT_EQ(library.get<int()>("cuGone"), nullptr) << "the driver lacks it";
    EXPECT_EQ(library.get<int()>("cuCallsGone")(), 32) << "the front itself calls its own still";
    EXPECT_EQ(library.get<int()>("cuData"), nullptr);
    EXPECT_EQ(library.get<int()>("cuOne")(), 1);
    using Weigh = double(int, int, int, int, int, int, int, double, double);
    for (const char* name : {"cuNew", "cuNewer_v2"}) {
        auto* stub = library.get<Weigh>(name);
        ASSERT_NE(stub, nullptr) << name;
        EXPECT_EQ(stub(1, 2, 3, 4, 5, 6, 7, 1, 1), 7654321.75);
        EXPECT_STREQ(library.get<const char*()>("cuLast")(), name);
    }
}

TEST(FitExports, AStubAsksOnce) {
    const auto fitted = fitted_copy(front(), driver_like(front(), {"cuNew"}));
    ASSERT_TRUE(fitted) << fitted.error();
    const Loaded library(*fitted);
    auto* keep = library.get<void(int)>("cuKeep");
    auto* last = library.get<const char*()>("cuLast");
    auto* stub = library.get<double(int, int, int, int, int, int, int, double, double)>("cuNew");
    keep(1);
    EXPECT_EQ(stub(7, 6, 5, 4, 3, 2, 1, 2, 4), 1234569);
    EXPECT_STREQ(last(), "cuNew");
    keep(1);
    EXPECT_EQ(stub(7, 6, 5, 4, 3, 2, 1, 2, 4), 1234569);
    EXPECT_STREQ(last(), "");
}

TEST(FitExports, OfTwoThousandNamesEachIsFound) {
    std::vector<std::string> names;
    names.reserve(2000);
    for (int i = 0; i < 2000; ++i) names.push_back("cuFunctionOfADriverToCome_" + std::to_string(i));
    const auto fitted = fitted_copy(front(), driver_like(front(), names));
    ASSERT_TRUE(fitted) << fitted.error();
    const Loaded library(*fitted);
    std::set<void*> addresses;
    for (const std::string& name : names) {
        auto* stub = library.get<void()>(name.c_str());
        ASSERT_NE(stub, nullptr) << name;
        EXPECT_TRUE(addresses.insert(reinterpret_cast<void*>(stub)).second) << name;
    }
    EXPECT_EQ(library.get<void()>("cuFunctionOfADriverToCome_2000"), nullptr);
    EXPECT_NE(library.get<int()>("cuOne"), nullptr);
}

TEST(FitExports, MoreThanThereIsRoomForIsRefused) {
    std::vector<std::string> names;
    names.reserve(2049);
    for (int i = 0; i < 2049; ++i) names.push_back("cu" + std::to_string(i));
    const auto many = fitted_copy(front(), driver_like(front(), names));
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error(),
              "the driver has 2049 functions more than the module knows, and it has no room for them");
    const auto long_ones = fitted_copy(front(), driver_like(front(), {std::string(300'000, 'x')}));
    ASSERT_FALSE(long_ones);
}

TEST(FitExports, WhatWasFittedOnceIsNotFittedAgain) {
    const auto fitted = fitted_copy(front(), driver_like(front(), {"cuNew"}));
    ASSERT_TRUE(fitted);
    EXPECT_FALSE(fitted_copy(*fitted, driver_like(front(), {"cuNew", "cuNewer"})));
}

/// A copy of capacity == size, so that a sanitizer sees any access beyond.
void corrupt_harmlessly(Bytes bytes, const Exports& driver) {
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
    const Bytes tight(bytes);
    const auto names = exported_symbols(reader(tight));
    const auto fitted = fitted_copy(tight, driver);
    if (!names) RC_ASSERT(!fitted);
    if (fitted) RC_ASSERT(fitted->size() == tight.size());
}

RC_GTEST_PROP(FitExports, ACorruptImageNeverLeadsOutOfIt, ()) { corrupt_harmlessly(sample(), {}); }

RC_GTEST_PROP(FitExports, NorDoesACorruptFront, ()) {
    corrupt_harmlessly(front(), driver_like(sample(), {"cuNew", "cuNewer"}));
}

}  // namespace
}  // namespace cgpu::elf
