#include "core/elf/shared_object.hpp"

#include <elf.h>

#include <array>
#include <cstring>
#include <span>

namespace cgpu::elf {
namespace {

struct Machine {
    Elf64_Half number;
    std::string_view name;
};
constexpr std::array kMachines = {Machine{EM_X86_64, "x86_64"}, Machine{EM_AARCH64, "aarch64"}};

#if defined(__x86_64__)
constexpr Machine kThis = kMachines[0];
#elif defined(__aarch64__)
constexpr Machine kThis = kMachines[1];
#else
#error "No name for this machine yet: add it to kMachines"
#endif

std::string machine_name(Elf64_Half number) {
    for (const Machine& machine : kMachines)
        if (machine.number == number) return std::string(machine.name);
    return "machine " + std::to_string(number);
}

template <class T>
bool read_one(const ReadAt& image, std::uint64_t offset, T& value) {
    return image(offset, std::as_writable_bytes(std::span(&value, 1)));
}

/// Whether a segment that the loader maps is inside.
bool lies_within(const Elf64_Phdr& segment, std::uint64_t size) {
    return segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
}

std::optional<std::string> why_not_of_this_machine(const Elf64_Ehdr& header) {
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return "it is not of 64 bits";
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) return "it is not little endian";
    if (header.e_machine != kThis.number)
        return "it is for " + machine_name(header.e_machine) + ", and this machine is " +
               std::string(kThis.name);
    if (header.e_type != ET_DYN) return "it is no shared library";
    return std::nullopt;
}

}  // namespace

std::string_view this_machine() { return kThis.name; }

std::optional<std::string> why_not_loadable(const ReadAt& image, std::uint64_t size) {
    Elf64_Ehdr header{};
    if (!read_one(image, 0, header)) return "it is too short for an ELF file";
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
    if (auto why = why_not_of_this_machine(header)) return why;
    if (header.e_phentsize != sizeof(Elf64_Phdr)) return "its program headers have another size";
    bool loads = false;
    bool dynamic = false;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        const std::uint64_t offset = i * sizeof segment;
        if (header.e_phoff > size || !read_one(image, header.e_phoff + offset, segment))
            return "it is cut off: its program headers reach beyond its end";
        loads |= segment.p_type == PT_LOAD;
        dynamic |= segment.p_type == PT_DYNAMIC;
        if ((segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) && !lies_within(segment, size))
            return "it is cut off: it has segments that reach beyond its end";
    }
    if (!loads || !dynamic) return "it has nothing that the loader could map";
    return std::nullopt;
}

}  // namespace cgpu::elf
