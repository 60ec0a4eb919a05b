#include "tests/sim/driver/module/image_size.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace simgpu {

namespace {

// As in CUDA's fatbinary_section.h and in what nvcc puts before each fat binary.
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
};

struct FatBinary {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes;  ///< Behind the header.
};

template <typename T>
T read_at(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint64_t elf_size(const void* image) {
    const auto header = read_at<Elf64_Ehdr>(image);
    const std::uint64_t sections = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
    const std::uint64_t segments = header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
    return std::max(sections, segments);
}

}  // namespace

std::uint64_t image_size(const void* image) {
    const auto* text = static_cast<const char*>(image);
    if (std::strncmp(text, ELFMAG, SELFMAG) == 0) return elf_size(image);
    // A shorter text has its zero within these bytes.
    const std::uint64_t length = strnlen(text, sizeof(std::uint32_t));
    if (length < sizeof(std::uint32_t)) return length;
    const auto magic = read_at<std::uint32_t>(image);
    if (magic == kWrapperMagic) return image_size(read_at<Wrapper>(image).data);
    if (magic == kFatBinaryMagic) {
        const auto binary = read_at<FatBinary>(image);
        return binary.header_bytes + binary.bytes;
    }
    return std::strlen(text);
}

}  // namespace simgpu
