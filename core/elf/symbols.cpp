#include "core/elf/symbols.hpp"

#include <cstring>

namespace cgpu::elf {
namespace {

std::optional<std::string_view> text_at(const std::vector<char>& strings, std::uint64_t offset) {
    if (offset >= strings.size()) return std::nullopt;
    const char* start = strings.data() + offset;
    const std::size_t room = strings.size() - offset;
    const std::size_t length = strnlen(start, room);
    if (length == room) return std::nullopt;
    return std::string_view(start, length);
}

bool is_function(const Elf64_Sym& symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

}  // namespace

tl::unexpected<std::string> corrupt(const char* what) {
    return tl::unexpected(std::string("not a usable ELF file: ") + what);
}

bool is_exported(const Elf64_Sym& symbol) {
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF &&
           (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE);
}

ReadAt reader(std::span<const std::byte> image) {
    return [image](std::uint64_t offset, std::span<std::byte> to) {
        if (offset > image.size() || image.size() - offset < to.size()) return false;
        if (!to.empty()) std::memcpy(to.data(), image.data() + offset, to.size());
        return true;
    };
}

std::optional<std::string_view> DynamicSymbols::name_of(const Elf64_Sym& symbol) const {
    return text_at(strings, symbol.st_name);
}

tl::expected<DynamicSymbols, std::string> find_symbols(const ReadAt& image, std::uint64_t most) {
    const auto headers = read_values<Elf64_Ehdr>(image, 0, 1);
    if (!headers || std::memcmp(headers->front().e_ident, ELFMAG, SELFMAG) != 0)
        return corrupt("it doesn't start as one");
    const Elf64_Ehdr& header = headers->front();
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return corrupt("it is not of 64 bits, little endian");
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return corrupt("its section headers have another size");
    auto sections = read_values<Elf64_Shdr>(image, header.e_shoff, header.e_shnum);
    if (!sections) return corrupt("its section headers reach beyond its end");
    for (std::size_t at = 0; at < sections->size(); ++at) {
        const Elf64_Shdr& section = (*sections)[at];
        if (section.sh_type != SHT_DYNSYM) continue;
        if (section.sh_link >= sections->size()) return corrupt("its symbols have no names");
        const Elf64_Shdr& names = (*sections)[section.sh_link];
        auto symbols =
            read_values<Elf64_Sym>(image, section.sh_offset, section.sh_size / sizeof(Elf64_Sym), most);
        auto strings = read_values<char>(image, names.sh_offset, names.sh_size, most);
        if (!symbols || !strings) return corrupt("its symbols reach beyond its end");
        return DynamicSymbols{std::move(*sections), at, std::move(*symbols), std::move(*strings)};
    }
    return corrupt("it has no dynamic symbols");
}

tl::expected<Exports, std::string> exported_symbols(const ReadAt& image) {
    const auto found = find_symbols(image);
    if (!found) return tl::unexpected(found.error());
    Exports exports;
    for (const Elf64_Sym& symbol : found->symbols) {
        if (!is_exported(symbol)) continue;
        const auto name = found->name_of(symbol);
        if (!name) return corrupt("a symbol's name reaches beyond its end");
        exports.emplace(*name, is_function(symbol) ? SymbolKind::function : SymbolKind::object);
    }
    return exports;
}

}  // namespace cgpu::elf
