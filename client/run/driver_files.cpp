#include "client/run/driver_files.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <elf.h>
#include <unistd.h>

#include "client/run/library_folders.hpp"

namespace cgpu::client {
namespace {

/// `libcuda.so` alone, or with a version: libcuda.so.1, libcuda.so.535.104.05.
bool is_named(std::string_view file, std::string_view base) {
    if (!file.starts_with(base)) return false;
    const std::string_view rest = file.substr(base.size());
    return rest.empty() ||
           (rest.front() == '.' && rest.find_first_not_of(".0123456789") == std::string_view::npos);
}

bool is_for_this_machine(const Descriptor& file) {
    Elf64_Ehdr header{};
    if (pread(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == EM_X86_64;
}

class Search {
  public:
    Search(std::string base, const Root& root) : base_(std::move(base)), root_(root) {}

    void look_in(const std::filesystem::path& folder) {
        for (const std::string& name : root_.names_in(folder.native()))
            if (is_named(name, base_)) add((folder / name).native(), name == base_ + ".1");
    }

    std::optional<DriverLibrary> found() const {
        if (files_.empty()) return std::nullopt;
        return DriverLibrary{base_ + ".1", loaded_.empty() ? files_.front() : loaded_, files_};
    }

  private:
    /// `loaded`: it has the name that programs load.
    void add(const std::string& path, bool loaded) {
        const Descriptor file = root_.find_file(path);
        if (!file || !is_for_this_machine(file)) return;
        const std::string real = root_.path_of(file);
        if (real.empty()) return;
        if (loaded && loaded_.empty()) loaded_ = real;
        // Two hard links are two files here: a mount over one of them does not cover the other.
        if (std::find(files_.begin(), files_.end(), real) == files_.end()) files_.push_back(real);
    }

    std::string base_;
    const Root& root_;
    std::string loaded_;
    std::vector<std::string> files_;
};

}  // namespace

Result<std::vector<DriverLibrary>> find_driver(const Root& root, const std::string& library_path) {
    const auto folders = library_folders(root, library_path);
    const auto shipped = shipped_driver_folders(root);
    std::vector<DriverLibrary> libraries;
    for (const char* base : {"libcuda.so", "libnvidia-ml.so"}) {
        Search search(base, root);
        for (const std::string& folder : folders) search.look_in(folder);
        // Without a driver of the host's these are of no use.
        if (search.found())
            for (const std::string& folder : shipped) search.look_in(folder);
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
