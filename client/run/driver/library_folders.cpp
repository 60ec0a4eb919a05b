#include "client/run/driver/library_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

#include "client/run/driver/path_trust.hpp"
#include "client/run/files/stored_file.hpp"
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

/// Folders below each of its folders in which glibc looks first, if the processor has what they are for:
/// those of today, and, up to glibc 2.36, one below the other in this order, any of them left out.
constexpr std::array<const char*, 3> kHardware = {"glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3",
                                                  "glibc-hwcaps/x86-64-v2"};
constexpr std::array<const char*, 8> kOldHardware = {"tls",      "haswell", "xeon_phi", "i686",
                                                     "avx512_1", "x86_64",  "sse2",     "nosegneg"};

/// What glibc puts in the place of these in LD_LIBRARY_PATH, on Debian and elsewhere, for programs of 64 and
/// 32 bits. The place of the program itself (`$ORIGIN`) isn't known beforehand.
struct Token {
    const char* name;
    std::vector<const char*> values;
};
const std::vector<Token>& tokens() {
    static const std::vector<Token> kTokens = {
        {"LIB", {"lib/x86_64-linux-gnu", "lib64", "lib", "lib/i386-linux-gnu", "lib32"}},
        {"PLATFORM", {"x86_64", "haswell", "xeon_phi", "i686"}}};
    return kTokens;
}

std::string with_value(std::string text, const std::string& token, const std::string& value) {
    for (std::size_t at = 0; (at = text.find(token, at)) != std::string::npos; at += value.size())
        text.replace(at, token.size(), value);
    return text;
}

/// The folders that an entry may mean.
std::vector<std::string> folders_meant(const std::string& entry) {
    std::vector<std::string> meant = {entry};
    for (const Token& token : tokens()) {
        std::vector<std::string> next;
        for (const std::string& text : meant) {
            const std::string braced = with_value(text, "${" + std::string(token.name) + "}", "\1");
            const std::string marked = with_value(braced, "$" + std::string(token.name), "\1");
            if (marked == text)
                next.push_back(text);
            else
                for (const char* value : token.values) next.push_back(with_value(marked, "\1", value));
        }
        meant = std::move(next);
    }
    return meant;
}

/// Bounds for the loader's files; honest systems have smaller and fewer files, and fewer folders.
constexpr std::size_t kMaxConfig = std::size_t{1} << 20;
constexpr std::size_t kMaxConfigFiles = 1024;
constexpr std::size_t kMaxFolders = 1024;
/// How much is looked at where any user may have made thousands of folders, so that no user's folders keep
/// others' jobs from starting.
constexpr std::size_t kMaxListed = 256;
constexpr std::size_t kMaxDoubtful = 64;

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
        const std::string text = stored_text_of(root_, path, kMaxConfig + 1);
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
            if (path[begin] == '/')
                for (const std::string& folder : folders_meant(path.substr(begin, end - begin))) add(folder);
            begin = end + 1;
        }
    }

    void add(const std::string& folder) {
        if (refusal_) return;
        const Descriptor there = root_.find(folder, O_PATH | O_DIRECTORY);
        // However often an environment names a folder, what is below it is looked up once.
        if (!there || !searched_.insert(root_.path_of(there)).second) return;
        for (const char* below : kHardware) add_one(folder + "/" + below);
        add_old_hardware(folder, 0);
        add_one(folder);
    }

    /// The folders found since the last call.
    std::vector<std::string> take() { return std::exchange(folders_, {}); }

    std::optional<ClientError> refusal() const {
        if (!refusal_) return std::nullopt;
        return ClientError{ClientError::Kind::refused, *refusal_};
    }

  private:
    void add_one(const std::string& folder) {
        if (refusal_) return;
        const Descriptor there = root_.find(folder, O_PATH | O_DIRECTORY);
        if (!there) return;
        std::string path = root_.path_of(there);
        if (path.empty() || !known_.insert(path).second) return;
        if (known_.size() > kMaxFolders) return refuse("the loader is told of", kMaxFolders, "folders");
        folders_.push_back(std::move(path));
    }

    void add_old_hardware(const std::string& folder, std::size_t first) {
        for (std::size_t i = first; i < kOldHardware.size(); ++i) {
            const std::string below = folder + "/" + kOldHardware[i];
            if (!root_.find(below, O_PATH | O_DIRECTORY)) continue;
            add_old_hardware(below, i + 1);
            add_one(below);
        }
    }

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
    std::unordered_set<std::string> searched_;
    std::optional<std::string> refusal_;
};

/// Some of the names in a folder, however many it has.
std::vector<std::string> some_names_in(const Root& root, const std::string& folder) {
    const Descriptor fd = root.find(folder, O_RDONLY | O_DIRECTORY);
    std::vector<std::string> names;
    DIR* listing = fd ? fdopendir(dup(fd.fd())) : nullptr;
    if (listing == nullptr) return names;
    while (const dirent* entry = names.size() < kMaxListed ? readdir(listing) : nullptr)
        names.emplace_back(entry->d_name);
    closedir(listing);
    std::sort(names.begin(), names.end());
    return names;
}

class ShippedReader {
  public:
    ShippedReader(const Root& root, Place place)
        : root_(root), place_(place), shipped_(root), claimed_(root) {}

    void read_toolkits() {
        for (const std::string& toolkit : names_in(kToolkits)) {
            if (!toolkit.starts_with("cuda")) continue;
            const auto compat = std::filesystem::path(kToolkits) / toolkit / "compat";
            add(compat.native());
            for (const std::string& name : names_in(compat.native()))
                if (name != "." && name != "..") add((compat / name).native());
        }
    }

    /// The environments of a conda installation, and the one at this path.
    void read_conda(const std::filesystem::path& prefix) {
        const auto environments = prefix / "envs";
        add((prefix / "cuda-compat").native());
        for (const std::string& name : names_in(environments.native()))
            if (!name.starts_with('.')) add((environments / name / "cuda-compat").native());
    }

    void read_claimed(const std::string& prefix) {
        claiming_ = true;
        read_conda(prefix);
        // An environment is below the installation that made it.
        if (const auto below = prefix.rfind("/envs/"); below != std::string::npos)
            read_conda(prefix.substr(0, below));
        claiming_ = false;
    }

    Result<ShippedFolders> take() {
        for (const Reader* each : {&shipped_, &claimed_})
            if (auto refused = each->refusal()) return tl::unexpected(*refused);
        ShippedFolders found{shipped_.take(), std::move(doubtful_), claimed_.take()};
        const auto is_known = [&found](const std::string& folder) {
            return std::ranges::find(found.claimed, folder) != found.claimed.end();
        };
        std::erase_if(found.shipped, is_known);
        std::erase_if(found.doubtful, [&](const std::string& folder) { return is_known(path_of(folder)); });
        return found;
    }

  private:
    [[nodiscard]] bool decides(const std::string& folder) const {
        return place_ == Place::container || !writable_by_others(root_, folder);
    }

    [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const {
        return decides(folder) ? root_.names_in(folder) : some_names_in(root_, folder);
    }

    void add(const std::string& folder) {
        if (claiming_) return claimed_.add(folder);
        if (path_of(folder).empty()) return;
        if (decides(folder)) return shipped_.add(folder);
        // With its links: whoever can change them answers for what is behind them.
        if (doubtful_.size() < kMaxDoubtful) doubtful_.push_back(folder);
    }

    [[nodiscard]] std::string path_of(const std::string& folder) const {
        const Descriptor there = root_.find(folder, O_PATH | O_DIRECTORY);
        return there ? root_.path_of(there) : std::string();
    }

    const Root& root_;
    Place place_;
    Reader shipped_;
    Reader claimed_;
    std::vector<std::string> doubtful_;
    bool claiming_ = false;
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

Result<ShippedFolders> shipped_driver_folders(const Root& root, const LoaderEnvironment& environment,
                                              Place place) {
    ShippedReader reader(root, place);
    reader.read_toolkits();
    for (const char* prefix : kCondas) reader.read_conda(prefix);
    if (const std::string prefix = without_slash_at_end(environment.conda_prefix); prefix.starts_with('/'))
        reader.read_claimed(prefix);
    return reader.take();
}

}  // namespace cgpu::client
