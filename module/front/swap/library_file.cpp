#include "module/front/swap/library_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace cgpu::front {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#endif

bool read_at(int file, std::uint64_t offset, void* into, std::size_t bytes) {
    return pread(file, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

const char* fault_of(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return "it is no file";
    const auto size = static_cast<std::uint64_t>(status.st_size);
    Elf64_Ehdr head{};
    if (!read_at(file, 0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return "it is no library";
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kMachine || head.e_type != ET_DYN)
        return "it is no library for this machine";
    for (std::uint32_t i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!read_at(file, head.e_phoff + std::uint64_t{i} * head.e_phentsize, &segment, sizeof segment))
            return "the file is cut off";
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return "the file is cut off";
    }
    return nullptr;
}

}  // namespace

const char* fault_of_library(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return "there is no such file, or it can't be opened";
    const char* fault = fault_of(file);
    close(file);
    return fault;
}

}  // namespace cgpu::front
