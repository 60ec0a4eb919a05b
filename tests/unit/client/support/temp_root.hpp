#pragma once

#include <elf.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace cgpu::client {

/// A folder that stands for a system's root; it is removed with the object.
class TempRoot {
  public:
    TempRoot() {
        std::string pattern = (std::filesystem::temp_directory_path() / "cgpu-test-XXXXXX").native();
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
    /// The head of a shared library.
    void library(const std::string& path, unsigned char elf_class = ELFCLASS64,
                 Elf64_Half machine = EM_X86_64) const {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = elf_class;
        header.e_machine = machine;
        std::string bytes(sizeof header, '\0');
        std::memcpy(bytes.data(), &header, sizeof header);
        file(path, bytes);
    }

  private:
    std::string path_;
};

}  // namespace cgpu::client
