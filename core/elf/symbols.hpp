#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

/// Reads what an ELF image exports. All functions take images of 64 bits, little endian, and trust nothing in
/// them: a corrupt image is an error with a sentence, never a read outside of it.
namespace cgpu::elf {

/// Reads an image from `offset` on until `to` is full; false where it can't. A driver's file is large, and
/// only its headers and symbols are looked at.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// Of an image in memory, which must outlive the reader.
ReadAt reader(std::span<const std::byte> image);

enum class SymbolKind { function, object };
/// By name, the dynamic symbols that an image defines, global or weak.
using Exports = std::map<std::string, SymbolKind, std::less<>>;

tl::expected<Exports, std::string> exported_symbols(const ReadAt& image);

/// The sections of an image, and its dynamic symbols with their names.
struct DynamicSymbols {
    std::vector<Elf64_Shdr> sections;
    std::size_t section = 0;  ///< of the symbols, among the sections
    std::vector<Elf64_Sym> symbols;
    std::vector<char> strings;

    [[nodiscard]] std::uint64_t offset() const { return sections[section].sh_offset; }
    /// Nothing where it reaches beyond the strings.
    [[nodiscard]] std::optional<std::string_view> name_of(const Elf64_Sym& symbol) const;
};

tl::expected<DynamicSymbols, std::string> find_symbols(const ReadAt& image);

/// Defined, and visible to other files.
[[nodiscard]] bool is_exported(const Elf64_Sym& symbol);

/// "not a usable ELF file: …"
[[nodiscard]] tl::unexpected<std::string> corrupt(const char* what);

/// The values of type T at an offset; nothing where they are not wholly inside.
template <class T>
std::optional<std::vector<T>> read_values(const ReadAt& image, std::uint64_t offset, std::uint64_t count) {
    // More than any driver's symbols or their names take.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
    if (count > kMost / sizeof(T)) return std::nullopt;
    std::vector<T> values(count);
    if (!image(offset, std::as_writable_bytes(std::span(values)))) return std::nullopt;
    return values;
}

}  // namespace cgpu::elf
