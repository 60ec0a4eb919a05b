#include "daemon/config/folders.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/model/quote.hpp"

namespace cgpu::config {
namespace {

namespace fs = std::filesystem;

struct Folder {
    std::string_view key;
    const fs::path& path;
    fs::path real;
    const Entry* entry;  ///< that has set it; nullptr: none
};

/// Without a "/" at its end.
fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path real = fs::weakly_canonical(path, error);
    if (error) real = path.lexically_normal();
    return real.has_filename() || real == real.root_path() ? real : real.parent_path();
}

bool is_within(const fs::path& inner, const fs::path& outer) {
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

void check_folders(const Config& config, const std::vector<Entry>& entries, Problems& problems) {
    Folder folders[] = {{"state_dir", config.state_dir, {}, nullptr},
                        {"runtime_dir", config.runtime_dir, {}, nullptr},
                        {"module_dir", config.module_dir, {}, nullptr}};
    for (Folder& folder : folders) {
        folder.real = real_path(folder.path);
        for (const Entry& entry : entries)
            if (entry.path.size() == 1 && entry.path.front() == folder.key) folder.entry = &entry;
    }
    const auto add = [&](const Folder& folder, const std::string& why) {
        problems.push_back(problem(folder.entry == nullptr ? Origin{"built in"} : folder.entry->origin,
                                   std::string(folder.key) + " = " + model::quote(folder.path.string()), why,
                                   "name a folder that cgpud has for this alone"));
    };
    for (const Folder& folder : folders)
        if (folder.real == folder.real.root_path()) add(folder, "it is the root of all folders");
    if (!problems.empty()) return;
    for (const Folder& one : folders)
        for (const Folder& other : folders) {
            // That which was written last is to be changed; where it was is compared, for each pair once.
            if (&one == &other || std::less<>()(one.entry, other.entry) ||
                (one.entry == other.entry && &one < &other))
                continue;
            if (one.real == other.real)
                add(one, "it is the folder of " + std::string(other.key) + ", too");
            else if (is_within(one.real, other.real))
                add(one,
                    "it lies in " + std::string(other.key) + " (" + model::quote(other.path.string()) + ")");
            else if (is_within(other.real, one.real))
                add(one, std::string(other.key) + " (" + model::quote(other.path.string()) + ") lies in it");
        }
}

}  // namespace cgpu::config
