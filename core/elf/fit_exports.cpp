#include "core/elf/fit_exports.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/elf/export_room.hpp"

namespace cgpu::elf {
namespace {

using Bytes = std::span<std::byte>;
using Names = std::vector<std::string_view>;

/// A section that is used for finding symbols, as both the loader's tags and the section headers refer to it.
struct Place {
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t address = 0;
    std::uint64_t size = 0;
};

/// False if it would not be inside.
template <class T>
bool put(Bytes image, std::uint64_t offset, std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    if (offset > image.size() || image.size() - offset < bytes.size()) return false;
    if (!bytes.empty()) std::memcpy(image.data() + offset, bytes.data(), bytes.size());
    return true;
}

std::uint32_t sysv_hash(std::string_view name) {
    std::uint32_t hash = 0;
    for (const char c : name) {
        hash = (hash << 4U) + static_cast<unsigned char>(c);
        const std::uint32_t high = hash & 0xf0000000U;
        hash = (hash ^ (high >> 24U)) & ~high;
    }
    return hash;
}

/// Allocates pieces of the front's free space, one after the other.
class Room {
  public:
    Room(const Elf64_Shdr& section, std::uint64_t begun)
        : offset_(section.sh_offset), address_(section.sh_addr), size_(section.sh_size), used_(begun) {}

    /// For `count` values of type T. Empty: it is full.
    template <class T>
    std::optional<Place> take(std::uint64_t count) {
        const std::uint64_t start = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
        if (start > size_ || count > (size_ - start) / sizeof(T)) return std::nullopt;
        used_ = start + count * sizeof(T);
        return Place{offset_ + start, address_ + start, count * sizeof(T)};
    }

  private:
    std::uint64_t offset_;
    std::uint64_t address_;
    std::uint64_t size_;
    std::uint64_t used_;
};

class Front {
  public:
    Front(Bytes image, DynamicSymbols symbols) : image_(image), symbols_(std::move(symbols)) {}

    /// Makes hooks undefined for functions that the driver lacks. False: a name is corrupt.
    bool hide_all_but(const Exports& driver) {
        for (Elf64_Sym& symbol : symbols_.symbols) {
            if (!is_exported(symbol)) continue;
            const auto name = symbols_.name_of(symbol);
            if (!name) return false;
            own_.emplace(*name);
            if (driver.contains(*name)) continue;
            symbol.st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol.st_info));
            symbol.st_shndx = SHN_UNDEF;
            symbol.st_value = 0;
            symbol.st_size = 0;
        }
        return put<Elf64_Sym>(image_, symbols_.offset(), symbols_.symbols);
    }

    /// False: it has no such section, so it is no front.
    bool find_room() {
        room_ = section_named(kRoomSection);
        stubs_ = section_named(kStubSection);
        return room_ && stubs_;
    }

    /// Exports a stub for each function that the driver has and the front has no hook for.
    tl::expected<void, std::string> add(const Exports& driver) {
        const auto header = read_values<ExportRoom>(reader(image_), section(*room_).sh_offset, 1);
        if (!header || header->front().magic != kRoomMagic || header->front().used != 0)
            return corrupt("its room for more exports isn't one");
        ExportRoom room = header->front();
        Names added;
        for (const auto& [name, kind] : driver)
            if (kind == SymbolKind::function && !own_.contains(name)) added.push_back(name);
        const std::uint64_t stub_space = section(*stubs_).sh_size;
        if (room.stub_bytes == 0 || room.stubs > stub_space / room.stub_bytes)
            return corrupt("it has fewer stubs than it says");
        if (added.size() > room.stubs) return too_many(added.size());
        room.used = static_cast<std::uint32_t>(added.size());
        if (!put<ExportRoom>(image_, section(*room_).sh_offset, std::span(&room, 1)) || !write(added, room))
            return too_many(added.size());
        return {};
    }

  private:
    [[nodiscard]] const Elf64_Shdr& section(std::size_t at) const { return symbols_.sections[at]; }

    static tl::unexpected<std::string> too_many(std::size_t functions) {
        return tl::unexpected("the driver has " + std::to_string(functions) +
                              " functions more than the module knows, and it has no room for them");
    }

    [[nodiscard]] std::optional<std::size_t> section_named(std::string_view name) const {
        const auto header = read_values<Elf64_Ehdr>(reader(image_), 0, 1);
        const auto& sections = symbols_.sections;
        if (!header || header->front().e_shstrndx >= sections.size()) return std::nullopt;
        const Elf64_Shdr& strings = sections[header->front().e_shstrndx];
        const auto text = read_values<char>(reader(image_), strings.sh_offset, strings.sh_size);
        if (!text) return std::nullopt;
        for (std::size_t at = 0; at < sections.size(); ++at) {
            const std::uint64_t start = sections[at].sh_name;
            if (start >= text->size()) continue;
            const char* from = text->data() + start;
            if (std::string_view(from, strnlen(from, text->size() - start)) == name) return at;
        }
        return std::nullopt;
    }

    /// Moves symbols, names, versions and the hash table over them to the room and extends them there. The
    /// existing symbols keep their numbers, by which relocations refer to them. False: no room.
    bool write(const Names& added, const ExportRoom& room) {
        Room space(section(*room_), sizeof room);
        const auto name_offsets = space.take<std::uint32_t>(added.size());
        auto symbols = symbols_.symbols;
        auto strings = symbols_.strings;
        std::vector<std::uint32_t> starts;
        for (std::size_t i = 0; i < added.size(); ++i) {
            Elf64_Sym symbol{};
            symbol.st_name = static_cast<Elf64_Word>(strings.size());
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
            symbol.st_shndx = static_cast<Elf64_Section>(*stubs_);
            symbol.st_value = section(*stubs_).sh_addr + i * room.stub_bytes;
            symbol.st_size = room.stub_bytes;
            starts.push_back(symbol.st_name);
            symbols.push_back(symbol);
            strings.insert(strings.end(), added[i].begin(), added[i].end());
            strings.push_back('\0');
        }
        const auto moved_symbols = space.take<Elf64_Sym>(symbols.size());
        const auto hash = hash_table(symbols, strings);
        const auto moved_hash = space.take<std::uint32_t>(hash.size());
        const auto moved_versions = space.take<Elf64_Half>(symbols.size());
        const auto moved_strings = space.take<char>(strings.size());
        if (!name_offsets || !moved_symbols || !moved_hash || !moved_versions || !moved_strings) return false;
        for (std::uint32_t& start : starts)
            start += static_cast<std::uint32_t>(moved_strings->offset - section(*room_).sh_offset);
        return put<std::uint32_t>(image_, name_offsets->offset, starts) &&
               put<Elf64_Sym>(image_, moved_symbols->offset, symbols) &&
               put<std::uint32_t>(image_, moved_hash->offset, hash) &&
               put<char>(image_, moved_strings->offset, strings) && move_versions(*moved_versions) &&
               point_to(*moved_symbols, *moved_strings, *moved_hash, *moved_versions);
    }

    [[nodiscard]] std::vector<std::uint32_t> hash_table(const std::vector<Elf64_Sym>& symbols,
                                                        const std::vector<char>& strings) const {
        const auto buckets = static_cast<std::uint32_t>(symbols.size() | 1U);
        std::vector<std::uint32_t> table(2 + buckets + symbols.size());
        table[0] = buckets;
        table[1] = static_cast<std::uint32_t>(symbols.size());
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            if (!is_exported(symbols[i])) continue;
            std::uint32_t& bucket = table[2 + sysv_hash(strings.data() + symbols[i].st_name) % buckets];
            table[2 + buckets + i] = bucket;
            bucket = static_cast<std::uint32_t>(i);
        }
        return table;
    }

    /// The new symbols have no version of their own. A front without versions needs none.
    bool move_versions(const Place& to) {
        const auto old = std::find_if(symbols_.sections.begin(), symbols_.sections.end(),
                                      [](const Elf64_Shdr& each) { return each.sh_type == SHT_GNU_versym; });
        if (old == symbols_.sections.end()) return true;
        auto versions = read_values<Elf64_Half>(reader(image_), old->sh_offset, symbols_.symbols.size());
        if (!versions) return false;
        versions->resize(to.size / sizeof(Elf64_Half), VER_NDX_GLOBAL);
        return put<Elf64_Half>(image_, to.offset, *versions);
    }

    /// For the loader by its tags, for tools by the section headers.
    bool point_to(const Place& symbols, const Place& strings, const Place& hash, const Place& versions) {
        const auto header = read_values<Elf64_Ehdr>(reader(image_), 0, 1);
        if (!header) return false;
        auto& sections = symbols_.sections;
        const std::size_t names = sections[symbols_.section].sh_link;
        std::optional<Elf64_Shdr> dynamic;
        for (std::size_t at = 0; at < sections.size(); ++at) {
            Elf64_Shdr& each = sections[at];
            if (each.sh_type == SHT_DYNAMIC) dynamic = each;
            if (at == symbols_.section) move(each, symbols);
            if (at == names) move(each, strings);
            if (each.sh_type == SHT_GNU_versym) move(each, versions);
            if (each.sh_type == SHT_GNU_HASH || each.sh_type == SHT_HASH) {
                each.sh_type = SHT_HASH;
                each.sh_entsize = sizeof(std::uint32_t);
                move(each, hash);
            }
        }
        if (!dynamic || !put<Elf64_Shdr>(image_, header->front().e_shoff, sections)) return false;
        auto tags =
            read_values<Elf64_Dyn>(reader(image_), dynamic->sh_offset, dynamic->sh_size / sizeof(Elf64_Dyn));
        if (!tags) return false;
        for (Elf64_Dyn& tag : *tags) {
            if (tag.d_tag == DT_SYMTAB) tag.d_un.d_ptr = symbols.address;
            if (tag.d_tag == DT_STRTAB) tag.d_un.d_ptr = strings.address;
            if (tag.d_tag == DT_STRSZ) tag.d_un.d_val = strings.size;
            if (tag.d_tag == DT_VERSYM) tag.d_un.d_ptr = versions.address;
            if (tag.d_tag == DT_GNU_HASH || tag.d_tag == DT_HASH) {
                tag.d_tag = DT_HASH;
                tag.d_un.d_ptr = hash.address;
            }
        }
        return put<Elf64_Dyn>(image_, dynamic->sh_offset, *tags);
    }

    static void move(Elf64_Shdr& section, const Place& to) {
        section.sh_offset = to.offset;
        section.sh_addr = to.address;
        section.sh_size = to.size;
    }

    Bytes image_;
    DynamicSymbols symbols_;
    std::set<std::string, std::less<>> own_;
    std::optional<std::size_t> room_;
    std::optional<std::size_t> stubs_;
};

}  // namespace

tl::expected<void, std::string> fit_exports(std::span<std::byte> front, const Exports& driver) {
    auto symbols = find_symbols(reader(front));
    if (!symbols) return tl::unexpected(symbols.error());
    Front fitted(front, std::move(*symbols));
    if (!fitted.hide_all_but(driver)) return corrupt("a symbol's name reaches beyond its end");
    if (!fitted.find_room()) return corrupt("it has no room for more exports");
    return fitted.add(driver);
}

}  // namespace cgpu::elf
