#include "core/elf/newer_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace cgpu::elf {
namespace {

using Image = std::vector<std::byte>;
using Names = std::vector<std::string>;

Image sample_image() {
    std::ifstream in(CGPU_SAMPLE_LIBRARY, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

/// Everywhere in the image.
Image renamed(Image image, std::string_view from, std::string_view to) {
    const auto same = [](std::byte a, char b) { return a == static_cast<std::byte>(b); };
    for (auto at = image.begin();;) {
        at = std::search(at, image.end(), from.begin(), from.end(), same);
        if (at == image.end()) return image;
        std::memcpy(&*at, to.data(), to.size());
        ++at;
    }
}

TEST(KnownFunctions, AreSortedAndHaveThePublicApiAndThePrivateExports) {
    const auto known = known_functions();
    EXPECT_TRUE(std::ranges::is_sorted(known));
    for (const char* name : {"cuMemAlloc_v2", "cuGraphAddNode_v3", "cuGLCtxCreate_v2", "cudbgGetAPI",
                             "cuMemcpyWithAttributesAsync_ptsz"})
        EXPECT_TRUE(std::ranges::binary_search(known, std::string_view(name))) << name;
}

TEST(NewerFunctions, AreThoseThatArentKnown) {
    const Image image = sample_image();
    EXPECT_EQ(newer_functions(reader(image)).value(), (Names{"cuOne", "cuThree", "cuTwo"}));
    EXPECT_EQ(newer_functions(reader(renamed(image, "cuThree", std::string_view("cuInit\0", 7)))).value(),
              (Names{"cuOne", "cuTwo"}));
}

TEST(NewerFunctions, HaveNamesThatADriverCouldHave) {
    for (const char* odd : {"cu\nne", "cu ne", "xxOne"})
        EXPECT_EQ(newer_functions(reader(renamed(sample_image(), "cuOne", odd))).value(),
                  (Names{"cuThree", "cuTwo"}));
}

TEST(NewerFunctions, NoneCanBeReadOfACorruptOrAHugeImage) {
    Image image = sample_image();
    EXPECT_FALSE(newer_functions(reader(std::span(image).first(100))));
    // The reader gives whatever is asked for; the image says that its symbols take gigabytes.
    const auto symbols = find_symbols(reader(image));
    ASSERT_TRUE(symbols);
    Elf64_Ehdr header{};
    std::memcpy(&header, image.data(), sizeof header);
    const std::size_t at = header.e_shoff + symbols->section * sizeof(Elf64_Shdr);
    Elf64_Shdr section{};
    std::memcpy(&section, image.data() + at, sizeof section);
    section.sh_size = std::uint64_t{1} << 32;
    std::memcpy(image.data() + at, &section, sizeof section);
    std::uint64_t most = 0;
    const auto endless = [&](std::uint64_t offset, std::span<std::byte> to) {
        most = std::max<std::uint64_t>(most, to.size());
        if (offset < image.size())
            std::memcpy(to.data(), image.data() + offset, std::min(to.size(), image.size() - offset));
        return true;
    };
    EXPECT_FALSE(newer_functions(endless));
    EXPECT_LT(most, 1U << 20);
}

}  // namespace
}  // namespace cgpu::elf
