#include "module/front/sizes/image_size.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace cgpu::front {
namespace {

constexpr unsigned kCuda = 190;

/// A cubin of two sections: one of the file, one that only exists in memory.
std::vector<char> cubin(std::uint64_t in_memory, unsigned machine = kCuda) {
    std::vector<char> image(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr));
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_machine = static_cast<Elf64_Half>(machine);
    header.e_shoff = sizeof header;
    header.e_shnum = 2;
    header.e_shentsize = sizeof(Elf64_Shdr);
    Elf64_Shdr sections[2]{};
    sections[0].sh_type = SHT_PROGBITS;
    sections[0].sh_flags = SHF_ALLOC;
    sections[0].sh_size = 100;
    sections[1].sh_type = SHT_NOBITS;
    sections[1].sh_flags = SHF_ALLOC | SHF_WRITE;
    sections[1].sh_size = in_memory;
    std::memcpy(image.data(), &header, sizeof header);
    std::memcpy(image.data() + sizeof header, sections, sizeof sections);
    return image;
}

struct Fat {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1;
    std::uint16_t header_bytes = 16;
    std::uint64_t bytes = 0;
};

struct FatWrapper {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* data = nullptr;
};

std::uint64_t size_in_file(const void* image, std::size_t bytes) {
    const std::string path = testing::TempDir() + "cgpu_image_size";
    std::ofstream(path, std::ios::binary)
        .write(static_cast<const char*>(image), static_cast<std::streamsize>(bytes));
    const auto size = image_file_size(path.c_str());
    std::filesystem::remove(path);
    return size;
}

TEST(ImageSize, CountsWhatACubinDeclaresBeyondTheFile) {
    const auto image = cubin(1 << 28);
    EXPECT_EQ(image_size(image.data()), image.size() + (1 << 28));
    EXPECT_EQ(size_in_file(image.data(), image.size()), image.size() + (1 << 28));
}

TEST(ImageSize, ReadsNoSectionsOfOtherElfFiles) {
    const auto image = cubin(1 << 28, EM_X86_64);
    EXPECT_EQ(image_size(image.data()), image.size());
}

TEST(ImageSize, BelievesAFatBinaryUpToABound) {
    Fat fat;
    fat.bytes = 1000;
    EXPECT_EQ(image_size(&fat), 1016u);
    const FatWrapper wrapper{.data = &fat};
    EXPECT_EQ(image_size(&wrapper), 1016u);
    fat.bytes = std::uint64_t{1} << 40;
    EXPECT_EQ(image_size(&fat), 64u << 20);
    const FatWrapper empty;
    EXPECT_EQ(image_size(&empty), 0u);
}

TEST(ImageSize, ATextIsAsLongAsItIs) {
    EXPECT_EQ(image_size(""), 0u);
    EXPECT_EQ(image_size("ab"), 2u);
    EXPECT_EQ(image_size(".version 7.0"), 12u);
    EXPECT_EQ(size_in_file(".version 7.0", 12), 12u);
}

TEST(ImageSize, AFileThatIsNoneIsTheDriversToRefuse) {
    EXPECT_EQ(image_file_size("/nowhere"), 0u);
    EXPECT_EQ(image_file_size("/"), 0u);
    EXPECT_EQ(image_file_size(nullptr), 0u);
    const auto image = cubin(1 << 28);
    EXPECT_EQ(size_in_file(image.data(), 10), 10u) << "cut off";
}

}  // namespace
}  // namespace cgpu::front
