#include "client/run/driver/library_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <fnmatch.h>

#include "core/model/quote.hpp"

namespace cgpu::client {
namespace {

constexpr std::array<const char*, 12> kUsual = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    // of 32-bit programs
    "/lib/i386-linux-gnu",
    "/usr/lib/i386-linux-gnu",
    "/lib32",
    "/usr/lib32",
};

constexpr const char* kToolkits = "/usr/local";

/// Folders of conda's installers, besides the one in CONDA_PREFIX.
constexpr std::array<const char*, 5> kCondas = {"/opt/conda", "/opt/miniconda3", "/opt/miniforge3",
                                                "/root/miniconda3", "/root/miniforge3"};

/// Bounds for the loader's files; honest systems have smaller and fewer files, and fewer folders.
constexpr std::size_t kMaxConfig = std::size_t{1} << 20;
constexpr std::size_t kMaxConfigFiles = 1024;
constexpr std::size_t kMaxFolders = 1024;

std::string without_slash_at_end(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

class Reader {
  public:
    explicit Reader(const Root& root) : root_(root) {}

    void read_config(const std::string& path) {
        // Each file once, because files may include each other.
        if (std::find(files_.begin(), files_.end(), path) != files_.end()) return;
        files_.push_back(path);
        if (files_.size() > kMaxConfigFiles)
            return refuse("/etc/ld.so.conf includes", kMaxConfigFiles, "files");
        const std::string text = root_.text_of(path, kMaxConfig + 1);
        if (text.size() > kMaxConfig) return refuse(model::quote(path) + " has", kMaxConfig, "bytes");
        std::istringstream file(text);
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line.substr(0, line.find('#')));
            std::string first;
            std::string second;
            if (!(words >> first)) continue;
            if (first == "include") {
                while (words >> second) include(second.starts_with('/') ? second : "/etc/" + second);
            } else if (first.starts_with('/')) {
                add(first);
            }
        }
    }

    /// The loader accepts both separators between folders.
    void add_path(const std::string& path) {
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find_first_of(":;", begin), path.size());
            if (path[begin] == '/') add(path.substr(begin, end - begin));
            begin = end + 1;
        }
    }

    void add(const std::string& folder) {
        if (refusal_) return;
        const Descriptor there = root_.find(folder, O_PATH | O_DIRECTORY);
        if (!there) return;
        std::string path = root_.path_of(there);
        if (path.empty() || !known_.insert(path).second) return;
        if (known_.size() > kMaxFolders) return refuse("the loader is told of", kMaxFolders, "folders");
        folders_.push_back(std::move(path));
    }

    /// The environments of a conda installation, and the one at this path.
    void add_conda(const std::filesystem::path& prefix) {
        const auto environments = prefix / "envs";
        add((prefix / "cuda-compat").native());
        for (const std::string& name : root_.names_in(environments.native()))
            if (!name.starts_with('.')) add((environments / name / "cuda-compat").native());
    }

    /// The folders found since the last call.
    std::vector<std::string> take() { return std::exchange(folders_, {}); }

    std::optional<ClientError> refusal() const {
        if (!refusal_) return std::nullopt;
        return ClientError{ClientError::Kind::refused, *refusal_};
    }

  private:
    /// Only the last part of a pattern may have wildcards; no distribution uses others.
    void include(const std::string& pattern) {
        const auto slash = pattern.find_last_of('/');
        const std::string folder = pattern.substr(0, slash + 1);
        for (const std::string& name : root_.names_in(folder))
            if (!refusal_ && fnmatch(pattern.c_str() + slash + 1, name.c_str(), FNM_PERIOD) == 0)
                read_config(folder + name);
    }

    void refuse(const std::string& what, std::size_t limit, const char* unit) {
        if (!refusal_)
            refusal_ = what + " more than " + std::to_string(limit) + " " + unit +
                       ", so a driver's library among them could stay uncovered. Try: remove some of them.";
    }

    const Root& root_;
    std::vector<std::string> files_;
    std::vector<std::string> folders_;
    std::unordered_set<std::string> known_;
    std::optional<std::string> refusal_;
};

}  // namespace

Result<LibraryFolders> library_folders(const Root& root, const LoaderEnvironment& environment) {
    Reader reader(root);
    LibraryFolders folders;
    reader.add_path(environment.library_path);
    folders.own = reader.take();
    for (const char* folder : kUsual) reader.add(folder);
    folders.usual = reader.take();
    reader.read_config("/etc/ld.so.conf");
    folders.configured = reader.take();
    if (auto refused = reader.refusal()) return tl::unexpected(*refused);
    return folders;
}

Result<std::vector<std::string>> shipped_driver_folders(const Root& root,
                                                        const LoaderEnvironment& environment) {
    Reader reader(root);
    for (const std::string& toolkit : root.names_in(kToolkits)) {
        if (!toolkit.starts_with("cuda")) continue;
        const auto compat = std::filesystem::path(kToolkits) / toolkit / "compat";
        reader.add(compat.native());
        for (const std::string& name : root.names_in(compat.native()))
            if (name != "." && name != "..") reader.add((compat / name).native());
    }
    for (const char* prefix : kCondas) reader.add_conda(prefix);
    if (const std::string prefix = without_slash_at_end(environment.conda_prefix); prefix.starts_with('/')) {
        reader.add_conda(prefix);
        // An environment is below the installation that made it.
        if (const auto below = prefix.rfind("/envs/"); below != std::string::npos)
            reader.add_conda(prefix.substr(0, below));
    }
    if (auto refused = reader.refusal()) return tl::unexpected(*refused);
    return reader.take();
}

}  // namespace cgpu::client
