#include "core/elf/hide_exports.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace cgpu::elf {
namespace {

using Image = std::span<const std::byte>;

/// The T at an offset; nothing where it is not wholly inside.
template <class T>
std::optional<T> read(Image image, std::uint64_t offset) {
    if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

std::optional<Image> part(Image image, std::uint64_t offset, std::uint64_t bytes) {
    if (offset > image.size() || image.size() - offset < bytes) return std::nullopt;
    return image.subspan(offset, bytes);
}

std::optional<std::string_view> text_at(Image strings, std::uint64_t offset) {
    if (offset >= strings.size()) return std::nullopt;
    const auto* start = reinterpret_cast<const char*>(strings.data() + offset);
    const std::size_t room = strings.size() - offset;
    const std::size_t length = strnlen(start, room);
    if (length == room) return std::nullopt;
    return std::string_view(start, length);
}

/// Where an image's dynamic symbols lie.
struct DynamicSymbols {
    std::uint64_t offset;
    std::uint64_t count;
    Image strings;
};

tl::unexpected<std::string> corrupt(const char* what) {
    return tl::unexpected(std::string("not a usable ELF file: ") + what);
}

tl::expected<DynamicSymbols, std::string> find_symbols(Image image) {
    const auto header = read<Elf64_Ehdr>(image, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return corrupt("it doesn't start as one");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return corrupt("it is not of 64 bits, little endian");
    }
    if (header->e_shentsize != sizeof(Elf64_Shdr)) return corrupt("its section headers have another size");
    const auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
        if (index >= header->e_shnum || header->e_shoff > image.size()) return std::nullopt;
        return read<Elf64_Shdr>(image, header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
        const auto symbols = section(index);
        if (!symbols) return corrupt("its section headers reach beyond its end");
        if (symbols->sh_type != SHT_DYNSYM) continue;
        const auto strings = section(symbols->sh_link);
        if (!strings) return corrupt("its symbols have no names");
        const auto names = part(image, strings->sh_offset, strings->sh_size);
        if (!names || !part(image, symbols->sh_offset, symbols->sh_size)) {
            return corrupt("its symbols reach beyond its end");
        }
        return DynamicSymbols{symbols->sh_offset, symbols->sh_size / sizeof(Elf64_Sym), *names};
    }
    return corrupt("it has no dynamic symbols");
}

bool is_exported(const Elf64_Sym& symbol) {
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF &&
           (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE);
}

/// Calls visit(offset of the symbol, symbol, name) for each exported one; false: a name is broken.
template <class Visit>
bool each_export(Image image, const DynamicSymbols& symbols, Visit visit) {
    for (std::uint64_t index = 0; index < symbols.count; ++index) {
        const std::uint64_t offset = symbols.offset + index * sizeof(Elf64_Sym);
        const auto symbol = read<Elf64_Sym>(image, offset);
        if (!symbol) return false;
        if (!is_exported(*symbol)) continue;
        const auto name = text_at(symbols.strings, symbol->st_name);
        if (!name) return false;
        visit(offset, *symbol, *name);
    }
    return true;
}

}  // namespace

tl::expected<std::set<std::string>, std::string> exported_symbols(Image image) {
    const auto symbols = find_symbols(image);
    if (!symbols) return tl::unexpected(symbols.error());
    std::set<std::string> names;
    const bool whole =
        each_export(image, *symbols,
                    [&](std::uint64_t, const Elf64_Sym&, std::string_view name) { names.emplace(name); });
    if (!whole) return corrupt("a symbol's name reaches beyond its end");
    return names;
}

tl::expected<std::vector<std::byte>, std::string> hide_exports(Image front,
                                                               const std::set<std::string>& present) {
    const auto symbols = find_symbols(front);
    if (!symbols) return tl::unexpected(symbols.error());
    std::vector<std::byte> out(front.begin(), front.end());
    const bool whole = each_export(
        front, *symbols, [&](std::uint64_t offset, const Elf64_Sym& symbol, std::string_view name) {
            if (present.contains(std::string(name))) return;
            Elf64_Sym hidden = symbol;
            hidden.st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol.st_info));
            hidden.st_shndx = SHN_UNDEF;
            hidden.st_value = 0;
            hidden.st_size = 0;
            std::memcpy(out.data() + offset, &hidden, sizeof hidden);
        });
    if (!whole) return corrupt("a symbol's name reaches beyond its end");
    return out;
}

}  // namespace cgpu::elf
