#include "client/run/library_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <glob.h>

namespace cgpu::client {
namespace {

constexpr std::array<const char*, 8> kUsual = {
    "/lib/x86_64-linux-gnu",   "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
    "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
};

/// An include that includes itself ends here.
constexpr int kMaxDepth = 8;

class Reader {
  public:
    explicit Reader(const std::string& root) : root_(root) {}

    void read_config(const std::string& path, int depth) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line.substr(0, line.find('#')));
            std::string first;
            std::string second;
            if (!(words >> first)) continue;
            if (first == "include" && depth < kMaxDepth) {
                while (words >> second) include(second, depth + 1);
            } else if (first.starts_with('/')) {
                add(first);
            }
        }
    }

    void add(const std::string& folder) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(root_ + folder, ignored)) return;
        if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) folders_.push_back(folder);
    }

    std::vector<std::string> take() { return std::move(folders_); }

  private:
    void include(const std::string& pattern, int depth) {
        const std::string full = root_ + (pattern.starts_with('/') ? pattern : "/etc/" + pattern);
        glob_t found{};
        if (glob(full.c_str(), 0, nullptr, &found) == 0)
            for (std::size_t i = 0; i < found.gl_pathc; ++i) read_config(found.gl_pathv[i], depth);
        globfree(&found);
    }

    std::string root_;
    std::vector<std::string> folders_;
};

}  // namespace

std::vector<std::string> library_folders(const std::string& root) {
    Reader reader(root);
    reader.read_config(root + "/etc/ld.so.conf", 0);
    for (const char* folder : kUsual) reader.add(folder);
    return reader.take();
}

}  // namespace cgpu::client
