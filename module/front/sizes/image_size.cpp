#include "module/front/sizes/image_size.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cgpu::front {
namespace {

// As in CUDA's fatbinary_section.h: the magic in front of each fat binary that nvcc makes.
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
};

/// The maximum for a fat binary: it has code for several kinds of GPU, and drivers load the part that they
/// use.
constexpr std::uint64_t kMostOfFatBinary = std::uint64_t{64} << 20;
constexpr unsigned kMachineCuda = 190;  // EM_CUDA; older elf.h don't name it

struct FatBinary {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes;  ///< behind the header
};

/// The size of an ELF file, including its sections that only exist in memory. `read(to, bytes, offset)`:
/// false at the end.
template <class Read>
std::uint64_t elf_size(Read read) {
    Elf64_Ehdr header{};
    if (!read(&header, sizeof header, 0)) return 0;
    auto size = header.e_shoff + std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
    if (header.e_phnum > 0)
        size = std::max(size, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
    if (header.e_machine != kMachineCuda || header.e_shentsize != sizeof(Elf64_Shdr)) return size;
    std::uint64_t in_memory = 0;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section{};
        if (!read(&section, sizeof section, header.e_shoff + i * sizeof section)) break;
        if (section.sh_type == SHT_NOBITS && (section.sh_flags & SHF_ALLOC) != 0)
            in_memory += section.sh_size;
    }
    return size + in_memory;
}

bool is_elf(const char* start) { return std::memcmp(start, ELFMAG, SELFMAG) == 0; }

}  // namespace

std::uint64_t image_size(const void* image) {
    const auto* bytes = static_cast<const char*>(image);
    // A shorter text has its zero within these bytes.
    const std::uint64_t start = strnlen(bytes, sizeof(std::uint32_t));
    std::uint32_t magic = 0;
    if (start == sizeof magic) std::memcpy(&magic, image, sizeof magic);
    if (magic == kWrapperMagic) {
        Wrapper wrapper{};
        std::memcpy(&wrapper, image, sizeof wrapper);
        return wrapper.data == nullptr ? 0 : image_size(wrapper.data);
    }
    if (magic == kFatBinaryMagic) {
        FatBinary binary{};
        std::memcpy(&binary, image, sizeof binary);
        return std::min(binary.header_bytes + binary.bytes, kMostOfFatBinary);
    }
    if (start == SELFMAG && is_elf(bytes))
        return elf_size([&](void* to, std::size_t size, std::uint64_t offset) {
            std::memcpy(to, bytes + offset, size);
            return true;
        });
    return start < sizeof magic ? start : std::strlen(bytes);
}

std::uint64_t image_file_size(const char* path) {
    if (path == nullptr) return 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return 0;
    struct stat status {};
    std::uint32_t magic = 0;
    char start[SELFMAG] = {};
    std::uint64_t size = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        size = static_cast<std::uint64_t>(status.st_size);
    if (pread(file, start, sizeof start, 0) == SELFMAG) std::memcpy(&magic, start, sizeof magic);
    if (magic == kFatBinaryMagic) size = std::min(size, kMostOfFatBinary);
    if (is_elf(start)) {
        const auto read = [&](void* to, std::size_t bytes, std::uint64_t offset) {
            return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
        };
        size = std::max(size, elf_size(read));
    }
    close(file);
    return size;
}

}  // namespace cgpu::front
