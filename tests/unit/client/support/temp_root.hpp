#pragma once

#include <elf.h>
#include <stdlib.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace cgpu::client {

/// A folder that stands for a system's root; it is removed with the object.
class TempRoot {
  public:
    explicit TempRoot(const std::filesystem::path& folder = std::filesystem::temp_directory_path()) {
        std::string pattern = (folder / "cgpu-test-XXXXXX").native();
        path_ = std::filesystem::canonical(mkdtemp(pattern.data())).native();
    }
    ~TempRoot() { std::filesystem::remove_all(path_); }
    TempRoot(const TempRoot&) = delete;
    TempRoot& operator=(const TempRoot&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string at(const std::string& path) const { return path_ + path; }

    void file(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
        std::ofstream(at(path), std::ios::binary) << text;
    }
    void folder(const std::string& path) const { std::filesystem::create_directories(at(path)); }
    void link(const std::string& path, const std::string& target) const {
        std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
        std::filesystem::create_symlink(target, at(path));
    }
    /// A shared library with nothing but its name. By default it has that of the driver's library that the
    /// file is named after.
    void library(const std::string& path, unsigned char elf_class = ELFCLASS64,
                 Elf64_Half machine = EM_X86_64) const {
        library_named(path, soname_like(path), elf_class, machine);
    }
    void library_named(const std::string& path, const std::string& soname,
                       unsigned char elf_class = ELFCLASS64, Elf64_Half machine = EM_X86_64) const {
        file(path, elf_class == ELFCLASS32
                       ? library_image<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn>(soname, elf_class, machine)
                       : library_image<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn>(soname, elf_class, machine));
    }

    /// libcuda.so.1 for /usr/lib/libcuda.so.535.2
    [[nodiscard]] static std::string soname_like(const std::string& path) {
        const std::string name = std::filesystem::path(path).filename().native();
        const auto end = name.find(".so");
        return end == std::string::npos ? name : name.substr(0, end) + ".so.1";
    }

    /// The content of such a library: headers, one segment with all of it, and the tags.
    template <class Header, class Segment, class Tag>
    [[nodiscard]] static std::string library_image(const std::string& soname, unsigned char elf_class,
                                                   Elf64_Half machine) {
        struct Image {
            Header header;
            Segment segments[2];
            Tag tags[3];
        } image{};
        const auto size = sizeof image + soname.size() + 1;
        std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
        image.header.e_ident[EI_CLASS] = elf_class;
        image.header.e_ident[EI_DATA] = ELFDATA2LSB;
        image.header.e_type = ET_DYN;
        image.header.e_machine = machine;
        image.header.e_phoff = offsetof(Image, segments);
        image.header.e_phentsize = sizeof(Segment);
        image.header.e_phnum = 2;
        image.segments[0].p_type = PT_LOAD;
        image.segments[0].p_filesz = image.segments[0].p_memsz = static_cast<Elf32_Word>(size);
        image.segments[1].p_type = PT_DYNAMIC;
        image.segments[1].p_offset = image.segments[1].p_vaddr = offsetof(Image, tags);
        image.segments[1].p_filesz = image.segments[1].p_memsz = sizeof image.tags;
        image.tags[0].d_tag = DT_STRTAB;
        image.tags[0].d_un.d_ptr = sizeof image;
        image.tags[1].d_tag = DT_SONAME;
        std::string bytes(sizeof image, '\0');
        std::memcpy(bytes.data(), &image, sizeof image);
        return bytes + soname + '\0';
    }

  private:
    std::string path_;
};

}  // namespace cgpu::client
