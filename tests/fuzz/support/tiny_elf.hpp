#pragma once

#include <elf.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf/export_room.hpp"

namespace cgpu::fuzz {

/// Makes the smallest shared library that exports these functions. With stubs, it has the room of a front for
/// as many more.
class TinyElf {
  public:
    static std::vector<std::byte> make(const std::vector<std::string_view>& functions, std::uint32_t stubs) {
        TinyElf elf;
        elf.write(functions, stubs);
        return std::move(elf.image_);
    }

  private:
    static constexpr std::uint32_t kStubBytes = 16;
    static constexpr std::size_t kRoomBytes = 4096;

    template <class T>
    std::size_t add(const std::vector<T>& values) {
        image_.resize((image_.size() + 7) / 8 * 8);
        const auto at = image_.size();
        image_.resize(at + values.size() * sizeof(T));
        if (!values.empty()) std::memcpy(image_.data() + at, values.data(), values.size() * sizeof(T));
        return at;
    }
    /// Adds content that is a section, too. Its address is its offset.
    template <class T>
    void section(std::string_view name, Elf64_Word type, Elf64_Word link, const std::vector<T>& values) {
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names_.size());
        header.sh_type = type;
        header.sh_link = link;
        header.sh_offset = header.sh_addr = add(values);
        header.sh_size = values.size() * sizeof(T);
        header.sh_entsize = sizeof(T);
        headers_.push_back(header);
        names_.append(name).push_back('\0');
    }

    void write(const std::vector<std::string_view>& functions, std::uint32_t stubs) {
        image_.resize(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
        headers_.emplace_back();
        std::vector<Elf64_Sym> symbols(1);
        std::string texts(1, '\0');
        for (const auto function : functions) {
            Elf64_Sym symbol{};
            symbol.st_name = static_cast<Elf64_Word>(texts.size());
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
            symbol.st_shndx = 1;
            symbols.push_back(symbol);
            texts.append(function).push_back('\0');
        }
        section(".dynsym", SHT_DYNSYM, 2, symbols);
        section(".dynstr", SHT_STRTAB, 0, std::vector<char>(texts.begin(), texts.end()));
        section(".gnu.hash", SHT_GNU_HASH, 1, std::vector<std::uint32_t>(4));
        section(".gnu.version", SHT_GNU_versym, 1, std::vector<Elf64_Half>(symbols.size(), VER_NDX_GLOBAL));
        std::vector<Elf64_Dyn> tags;
        for (const auto tag : {DT_SYMTAB, DT_STRTAB, DT_STRSZ, DT_VERSYM, DT_GNU_HASH, DT_NULL})
            tags.push_back({tag, {}});
        section(".dynamic", SHT_DYNAMIC, 2, tags);
        if (stubs > 0) {
            section(elf::kStubSection, SHT_PROGBITS, 0, std::vector<char>(std::size_t{stubs} * kStubBytes));
            std::vector<std::byte> room(kRoomBytes);
            const elf::ExportRoom begin{elf::kRoomMagic, kStubBytes, stubs, 0, 0};
            std::memcpy(room.data(), &begin, sizeof begin);
            section(elf::kRoomSection, SHT_PROGBITS, 0, room);
        }
        const std::string last = ".shstrtab";
        std::string all = names_ + last;
        all.push_back('\0');
        section(last, SHT_STRTAB, 0, std::vector<char>(all.begin(), all.end()));
        finish(add(headers_));
    }

    void finish(std::size_t section_headers) {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_DYN;
        header.e_machine = EM_X86_64;
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 2;
        header.e_shoff = section_headers;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(headers_.size());
        header.e_shstrndx = static_cast<Elf64_Half>(headers_.size() - 1);
        Elf64_Phdr segments[2]{};
        segments[0].p_type = PT_LOAD;
        segments[0].p_filesz = image_.size();
        segments[1].p_type = PT_DYNAMIC;
        segments[1].p_offset = headers_[5].sh_offset;
        segments[1].p_filesz = headers_[5].sh_size;
        std::memcpy(image_.data(), &header, sizeof header);
        std::memcpy(image_.data() + sizeof header, segments, sizeof segments);
    }

    std::vector<std::byte> image_;
    std::vector<Elf64_Shdr> headers_;
    std::string names_ = std::string(1, '\0');
};

}  // namespace cgpu::fuzz
