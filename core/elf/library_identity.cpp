#include "core/elf/library_identity.hpp"

#include <cstring>
#include <span>
#include <vector>

namespace cgpu::elf {
namespace {

/// Bounds for what is read. NVIDIA's libraries have some ten program headers and forty tags.
constexpr std::uint64_t kMostHeaders = 1024;
constexpr std::uint64_t kMostTags = 4096;

struct Bits64 {
    using Header = Elf64_Ehdr;
    using Segment = Elf64_Phdr;
    using Tag = Elf64_Dyn;
};
struct Bits32 {
    using Header = Elf32_Ehdr;
    using Segment = Elf32_Phdr;
    using Tag = Elf32_Dyn;
};

template <class Segment>
std::optional<std::uint64_t> offset_of(const std::vector<Segment>& segments, std::uint64_t address) {
    std::optional<std::uint64_t> offset;
    // Where segments overlap, the loader maps the later one over the earlier.
    for (const Segment& segment : segments)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            offset = std::uint64_t{segment.p_offset} + (address - segment.p_vaddr);
    return offset;
}

/// The text at an offset, up to its NUL; empty if it is too long.
std::string text_at(const ReadAt& image, std::uint64_t offset) {
    std::string text;
    // One by one, because the image may end right after the text.
    for (std::size_t i = 0; i <= kLongestSoname; ++i) {
        const auto next = read_values<char>(image, offset + i, 1);
        if (!next) return {};
        if (next->front() == '\0') return text;
        text += next->front();
    }
    return {};
}

/// Tags and names are found by address, because the loader finds them in memory.
template <class Bits>
std::string soname_of(const ReadAt& image, const std::vector<typename Bits::Segment>& segments) {
    using Tag = typename Bits::Tag;
    const typename Bits::Segment* dynamic = nullptr;
    for (const auto& segment : segments)
        if (segment.p_type == PT_DYNAMIC) dynamic = &segment;
    const auto begin = dynamic != nullptr ? offset_of(segments, dynamic->p_vaddr) : std::nullopt;
    if (!begin) return {};
    const std::uint64_t count = dynamic->p_memsz / sizeof(Tag);
    std::optional<std::uint64_t> name;
    std::optional<std::uint64_t> names;
    for (std::uint64_t i = 0; i < count && i < kMostTags; ++i) {
        const auto tag = read_values<Tag>(image, *begin + i * sizeof(Tag), 1);
        if (!tag || tag->front().d_tag == DT_NULL) break;
        if (tag->front().d_tag == DT_SONAME) name = tag->front().d_un.d_val;
        if (tag->front().d_tag == DT_STRTAB) names = tag->front().d_un.d_ptr;
    }
    if (!name || !names) return {};
    const auto at = offset_of(segments, *names + *name);
    return at ? text_at(image, *at) : std::string();
}

template <class Bits>
std::optional<LibraryIdentity> identify(const ReadAt& image) {
    using Segment = typename Bits::Segment;
    const auto headers = read_values<typename Bits::Header>(image, 0, 1);
    if (!headers) return std::nullopt;
    const auto& header = headers->front();
    if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Segment))
        return std::nullopt;
    const auto segments =
        read_values<Segment>(image, header.e_phoff, header.e_phnum, kMostHeaders * sizeof(Segment));
    if (!segments) return std::nullopt;
    return LibraryIdentity{header.e_ident[EI_CLASS], header.e_machine, soname_of<Bits>(image, *segments)};
}

}  // namespace

std::optional<LibraryIdentity> identify_library(const ReadAt& image) {
    const auto start = read_values<unsigned char>(image, 0, EI_NIDENT);
    if (!start || std::memcmp(start->data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
    if ((*start)[EI_CLASS] == ELFCLASS64) return identify<Bits64>(image);
    if ((*start)[EI_CLASS] == ELFCLASS32) return identify<Bits32>(image);
    return std::nullopt;
}

}  // namespace cgpu::elf
