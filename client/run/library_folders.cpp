#include "client/run/library_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fnmatch.h>

namespace cgpu::client {
namespace {

constexpr std::array<const char*, 8> kUsual = {
    "/lib/x86_64-linux-gnu",   "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
    "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
};

constexpr const char* kToolkits = "/usr/local";

/// An include that includes itself ends here.
constexpr int kMaxDepth = 8;

/// No honest file of the loader's is longer.
constexpr std::size_t kMaxConfig = std::size_t{1} << 20;
constexpr std::size_t kMaxFolders = 1024;

class Reader {
  public:
    explicit Reader(const Root& root) : root_(root) {}

    void read_config(const std::string& path, int depth) {
        std::istringstream file(root_.text_of(path, kMaxConfig));
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line.substr(0, line.find('#')));
            std::string first;
            std::string second;
            if (!(words >> first)) continue;
            if (first == "include" && depth < kMaxDepth) {
                while (words >> second)
                    include(second.starts_with('/') ? second : "/etc/" + second, depth + 1);
            } else if (first.starts_with('/')) {
                add(first);
            }
        }
    }

    /// The loader takes both signs between folders.
    void add_path(const std::string& path) {
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find_first_of(":;", begin), path.size());
            if (path[begin] == '/') add(path.substr(begin, end - begin));
            begin = end + 1;
        }
    }

    void add(const std::string& folder) {
        if (folders_.size() >= kMaxFolders || !root_.find(folder, O_PATH | O_DIRECTORY)) return;
        if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) folders_.push_back(folder);
    }

    std::vector<std::string> take() { return std::move(folders_); }

  private:
    /// Only the last part of a pattern may have wildcards; no distribution uses others.
    void include(const std::string& pattern, int depth) {
        // Files that include each other several times would be read exponentially often.
        if (++files_ > kMaxFolders) return;
        const auto slash = pattern.find_last_of('/');
        const std::string folder = pattern.substr(0, slash + 1);
        for (const std::string& name : root_.names_in(folder))
            if (fnmatch(pattern.c_str() + slash + 1, name.c_str(), FNM_PERIOD) == 0)
                read_config(folder + name, depth);
    }

    const Root& root_;
    std::size_t files_ = 0;
    std::vector<std::string> folders_;
};

}  // namespace

std::vector<std::string> library_folders(const Root& root, const std::string& library_path) {
    Reader reader(root);
    reader.add_path(library_path);
    reader.read_config("/etc/ld.so.conf", 0);
    for (const char* folder : kUsual) reader.add(folder);
    return reader.take();
}

std::vector<std::string> shipped_driver_folders(const Root& root) {
    Reader reader(root);
    for (const std::string& toolkit : root.names_in(kToolkits)) {
        if (!toolkit.starts_with("cuda")) continue;
        const std::filesystem::path compat = std::filesystem::path(kToolkits) / toolkit / "compat";
        reader.add(compat.native());
        for (const std::string& name : root.names_in(compat.native()))
            if (name != "." && name != "..") reader.add((compat / name).native());
    }
    return reader.take();
}

}  // namespace cgpu::client
