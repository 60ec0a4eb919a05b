#include "core/elf/hide_exports.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace cgpu::elf {
namespace {

using Bytes = std::span<const std::byte>;

/// More than any driver's symbols or their names take.
constexpr std::uint64_t kMaxSection = std::uint64_t{1} << 26;

/// The T values at an offset; nothing where they are not wholly inside.
template <class T>
std::optional<std::vector<T>> read(const ReadAt& image, std::uint64_t offset, std::uint64_t count) {
    if (count > kMaxSection / sizeof(T)) return std::nullopt;
    std::vector<T> values(count);
    if (!image(offset, std::as_writable_bytes(std::span(values)))) return std::nullopt;
    return values;
}

std::optional<std::string_view> text_at(const std::vector<char>& strings, std::uint64_t offset) {
    if (offset >= strings.size()) return std::nullopt;
    const char* start = strings.data() + offset;
    const std::size_t room = strings.size() - offset;
    const std::size_t length = strnlen(start, room);
    if (length == room) return std::nullopt;
    return std::string_view(start, length);
}

/// An image's dynamic symbols and their names.
struct DynamicSymbols {
    std::uint64_t offset;  ///< of the first one, in the image
    std::vector<Elf64_Sym> symbols;
    std::vector<char> strings;
};

tl::unexpected<std::string> corrupt(const char* what) {
    return tl::unexpected(std::string("not a usable ELF file: ") + what);
}

tl::expected<DynamicSymbols, std::string> find_symbols(const ReadAt& image) {
    const auto headers = read<Elf64_Ehdr>(image, 0, 1);
    if (!headers || std::memcmp(headers->front().e_ident, ELFMAG, SELFMAG) != 0)
        return corrupt("it doesn't start as one");
    const Elf64_Ehdr& header = headers->front();
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return corrupt("it is not of 64 bits, little endian");
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return corrupt("its section headers have another size");
    const auto sections = read<Elf64_Shdr>(image, header.e_shoff, header.e_shnum);
    if (!sections) return corrupt("its section headers reach beyond its end");
    for (const Elf64_Shdr& section : *sections) {
        if (section.sh_type != SHT_DYNSYM) continue;
        if (section.sh_link >= sections->size()) return corrupt("its symbols have no names");
        const Elf64_Shdr& names = (*sections)[section.sh_link];
        auto symbols = read<Elf64_Sym>(image, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
        auto strings = read<char>(image, names.sh_offset, names.sh_size);
        if (!symbols || !strings) return corrupt("its symbols reach beyond its end");
        return DynamicSymbols{section.sh_offset, std::move(*symbols), std::move(*strings)};
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
bool each_export(const DynamicSymbols& all, Visit visit) {
    std::uint64_t offset = all.offset;
    for (const Elf64_Sym& symbol : all.symbols) {
        const auto name = is_exported(symbol) ? text_at(all.strings, symbol.st_name) : std::string_view();
        if (!name) return false;
        if (is_exported(symbol)) visit(offset, symbol, *name);
        offset += sizeof(Elf64_Sym);
    }
    return true;
}

}  // namespace

ReadAt reader(Bytes image) {
    return [image](std::uint64_t offset, std::span<std::byte> to) {
        if (offset > image.size() || image.size() - offset < to.size()) return false;
        if (!to.empty()) std::memcpy(to.data(), image.data() + offset, to.size());
        return true;
    };
}

tl::expected<std::set<std::string>, std::string> exported_symbols(const ReadAt& image) {
    const auto symbols = find_symbols(image);
    if (!symbols) return tl::unexpected(symbols.error());
    std::set<std::string> names;
    const bool whole = each_export(
        *symbols, [&](std::uint64_t, const Elf64_Sym&, std::string_view name) { names.emplace(name); });
    if (!whole) return corrupt("a symbol's name reaches beyond its end");
    return names;
}

tl::expected<std::vector<std::byte>, std::string> hide_exports(Bytes front,
                                                               const std::set<std::string>& present) {
    const auto symbols = find_symbols(reader(front));
    if (!symbols) return tl::unexpected(symbols.error());
    std::vector<std::byte> out(front.begin(), front.end());
    const bool whole =
        each_export(*symbols, [&](std::uint64_t offset, const Elf64_Sym& symbol, std::string_view name) {
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
