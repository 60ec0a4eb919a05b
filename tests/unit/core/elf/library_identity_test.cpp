#include "core/elf/library_identity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace cgpu::elf {
namespace {

using Image = std::vector<std::byte>;

Image image_at(const char* path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

/// Changes the header of an image.
template <class Change>
Image changed(Image image, Change change) {
    Elf64_Ehdr header{};
    std::memcpy(&header, image.data(), sizeof header);
    change(header);
    std::memcpy(image.data(), &header, sizeof header);
    return image;
}

/// Changes each program header.
template <class Change>
Image with_segments(Image image, Change change) {
    Elf64_Ehdr header{};
    std::memcpy(&header, image.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        auto* const at = image.data() + header.e_phoff + i * sizeof segment;
        std::memcpy(&segment, at, sizeof segment);
        change(segment);
        std::memcpy(at, &segment, sizeof segment);
    }
    return image;
}

struct LibraryIdentityTest : ::testing::Test {
    const Image front = image_at(CGPU_SAMPLE_FRONT);
};

TEST_F(LibraryIdentityTest, IsReadByTheProgramHeaders) {
    const LibraryIdentity wanted{ELFCLASS64, EM_X86_64, "libmodule_sample_front.so"};
    EXPECT_EQ(identify_library(reader(front)), wanted);
    // As of a file that was stripped of its sections.
    EXPECT_EQ(identify_library(reader(changed(front,
                                              [](Elf64_Ehdr& header) {
                                                  header.e_shoff = header.e_shnum = header.e_shentsize =
                                                      header.e_shstrndx = 0;
                                              }))),
              wanted);
}

TEST_F(LibraryIdentityTest, AProgramAndATextAreNoLibraries) {
    EXPECT_FALSE(identify_library(reader({})));
    EXPECT_FALSE(identify_library(reader(Image(4096))));
    EXPECT_FALSE(
        identify_library(reader(changed(front, [](Elf64_Ehdr& header) { header.e_type = ET_EXEC; }))));
    EXPECT_FALSE(identify_library(
        reader(changed(front, [](Elf64_Ehdr& header) { header.e_ident[EI_DATA] = ELFDATA2MSB; }))));
    EXPECT_FALSE(
        identify_library(reader(changed(front, [](Elf64_Ehdr& header) { header.e_ident[EI_CLASS] = 3; }))));
    EXPECT_FALSE(identify_library(reader(changed(front, [](Elf64_Ehdr& header) { ++header.e_phentsize; }))));
}

TEST_F(LibraryIdentityTest, WhatHasNoUsableNameHasNone) {
    const auto soname = [](const Image& image) {
        const auto library = identify_library(reader(image));
        return library ? library->soname : "no library";
    };
    EXPECT_EQ(soname(with_segments(front,
                                   [](Elf64_Phdr& segment) {
                                       if (segment.p_type == PT_DYNAMIC) segment.p_type = PT_NULL;
                                   })),
              "");
    EXPECT_EQ(soname(with_segments(front,
                                   [](Elf64_Phdr& segment) {
                                       if (segment.p_type == PT_DYNAMIC)
                                           segment.p_vaddr = ~std::uint64_t{0} - 8;
                                   })),
              "");
    EXPECT_EQ(soname(with_segments(front,
                                   [](Elf64_Phdr& segment) {
                                       if (segment.p_type == PT_LOAD)
                                           segment.p_offset = ~std::uint64_t{0} - 8;
                                   })),
              "");
    EXPECT_EQ(soname(with_segments(front, [](Elf64_Phdr& segment) { segment.p_filesz = 0; })), "");
    // A name that doesn't end.
    Image endless = front;
    const std::string_view name = "libmodule_sample_front.so";
    const auto same = [](std::byte a, char b) { return a == static_cast<std::byte>(b); };
    auto at = std::search(endless.begin(), endless.end(), name.begin(), name.end(), same);
    ASSERT_NE(at, endless.end());
    std::fill(at, endless.end(), std::byte{'x'});
    EXPECT_NE(soname(endless), name);
}

TEST_F(LibraryIdentityTest, NothingOutsideIsReadAndLittleOfAHugeOne) {
    for (std::size_t size = 0; size < front.size(); size += size < 1024 ? 1 : 97)
        (void)identify_library(reader(std::span(front).first(size)));
    std::mt19937 random(7);
    for (int run = 0; run < 20000; ++run) {
        Image image = front;
        // Mostly in the headers.
        for (int i = 0; i < 4; ++i)
            image[random() % (run % 2 == 0 ? 800 : image.size())] = static_cast<std::byte>(random());
        (void)identify_library(reader(image));
    }
    // A file without an end, full of tags that aren't the last, with as many headers as can be.
    std::uint64_t read = 0;
    const auto huge = [&](std::uint64_t offset, std::span<std::byte> to) {
        read += to.size();
        std::fill(to.begin(), to.end(), std::byte{1});
        if (offset < front.size())
            std::memcpy(to.data(), front.data() + offset,
                        std::min<std::uint64_t>(to.size(), front.size() - offset));
        return true;
    };
    (void)identify_library(huge);
    const Image many = changed(front, [](Elf64_Ehdr& header) { header.e_phnum = 0xffff; });
    EXPECT_FALSE(identify_library(reader(many)));
    const Image far = with_segments(front, [](Elf64_Phdr& segment) {
        if (segment.p_type != PT_DYNAMIC) segment.p_filesz = ~std::uint64_t{0} >> 1U;
        if (segment.p_type != PT_DYNAMIC) return;
        segment.p_vaddr = std::uint64_t{1} << 40U;
        segment.p_memsz = ~std::uint64_t{0};
    });
    read = 0;
    (void)identify_library([&](std::uint64_t offset, std::span<std::byte> to) {
        if (offset >= far.size()) return huge(offset, to);
        std::memset(to.data(), 0, to.size());
        std::memcpy(to.data(), far.data() + offset, std::min<std::uint64_t>(to.size(), far.size() - offset));
        return true;
    });
    EXPECT_LT(read, 512U * 1024U);
}

}  // namespace
}  // namespace cgpu::elf
