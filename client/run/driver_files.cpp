#include "client/run/driver_files.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>
#include <sys/stat.h>

#include "client/run/library_folders.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;

/// `libcuda.so` alone, or with a version: libcuda.so.1, libcuda.so.535.104.05.
bool is_named(std::string_view file, std::string_view base) {
    if (!file.starts_with(base)) return false;
    const std::string_view rest = file.substr(base.size());
    return rest.empty() ||
           (rest.front() == '.' && rest.find_first_not_of(".0123456789") == std::string_view::npos);
}

bool is_for_this_machine(const std::string& path) {
    Elf64_Ehdr header{};
    std::array<char, sizeof header> bytes{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), bytes.size())) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == EM_X86_64;
}

class Search {
  public:
    Search(std::string base, const std::string& root) : base_(std::move(base)), root_(root) {}

    void look_in(const std::string& folder) {
        std::error_code error;
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(root_ + folder, error))
            if (is_named(entry.path().filename().native(), base_))
                names.push_back(entry.path().filename().native());
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) add(root_ + folder + "/" + name, name == base_ + ".1");
    }

    std::optional<DriverLibrary> found() const {
        if (files_.empty()) return std::nullopt;
        return DriverLibrary{base_ + ".1", loaded_.empty() ? files_.front() : loaded_, files_};
    }

  private:
    /// `loaded`: it has the name that programs load.
    void add(const std::string& path, bool loaded) {
        std::error_code error;
        const std::string real = fs::canonical(path, error).native();
        struct stat info {};
        if (error || ::stat(real.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || !is_for_this_machine(real))
            return;
        if (loaded && loaded_.empty()) loaded_ = real;
        const std::pair inode(info.st_dev, info.st_ino);
        if (std::find(inodes_.begin(), inodes_.end(), inode) != inodes_.end()) return;
        inodes_.push_back(inode);
        files_.push_back(real);
    }

    std::string base_;
    std::string root_;
    std::string loaded_;
    std::vector<std::string> files_;
    std::vector<std::pair<dev_t, ino_t>> inodes_;
};

}  // namespace

Result<std::vector<DriverLibrary>> find_driver(const std::string& root) {
    const auto folders = library_folders(root);
    std::vector<DriverLibrary> libraries;
    for (const char* base : {"libcuda.so", "libnvidia-ml.so"}) {
        Search search(base, root);
        for (const std::string& folder : folders) search.look_in(folder);
        if (auto library = search.found()) libraries.push_back(std::move(*library));
    }
    if (libraries.empty() || libraries.front().soname != "libcuda.so.1")
        return fail(
            ClientError::Kind::failed,
            "the NVIDIA driver: there is no libcuda.so.1 in the loader's folders. Try: install the driver, "
            "then ldconfig -p | grep libcuda.");
    return libraries;
}

}  // namespace cgpu::client
