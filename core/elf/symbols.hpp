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

/// Reads the exports of an ELF image. All functions take images of 64 bits, little endian, and trust nothing
/// in them: a corrupt image causes an error with a sentence, never a read outside it.
namespace cgpu::elf {

/// Reads an image from `offset` until `to` is full; false if it can't. A driver's file is large, and only its
/// headers and symbols are read.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// A reader for an image in memory, which must outlive it.
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
    /// Empty if it reaches beyond the strings.
    [[nodiscard]] std::optional<std::string_view> name_of(const Elf64_Sym& symbol) const;
};

/// More bytes than the symbols or names of any library take.
constexpr std::uint64_t kMostOfTable = std::uint64_t{1} << 26;

/// `most`: an image with a table of more bytes is taken for corrupt.
tl::expected<DynamicSymbols, std::string> find_symbols(const ReadAt& image,
                                                       std::uint64_t most = kMostOfTable);

/// Whether it is defined, and visible to other files.
[[nodiscard]] bool is_exported(const Elf64_Sym& symbol);

/// "not a usable ELF file: …"
[[nodiscard]] tl::unexpected<std::string> corrupt(const char* what);

/// The values of type T at an offset; empty if they are not completely inside, or have more than `most`
/// bytes.
template <class T>
std::optional<std::vector<T>> read_values(const ReadAt& image, std::uint64_t offset, std::uint64_t count,
                                          std::uint64_t most = kMostOfTable) {
    if (count > most / sizeof(T)) return std::nullopt;
    std::vector<T> values(count);
    if (!image(offset, std::as_writable_bytes(std::span(values)))) return std::nullopt;
    return values;
}

}  // namespace cgpu::elf
