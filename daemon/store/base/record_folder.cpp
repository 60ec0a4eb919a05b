#include "daemon/store/base/record_folder.hpp"

#include <string>
#include <string_view>
#include <system_error>

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".json";

}  // namespace

void make_record_folder(const fs::path& folder) {
    std::error_code ignored;  // then none can be written, which is said there
    if (!fs::is_directory(fs::symlink_status(folder, ignored))) fs::remove(folder, ignored);
    fs::create_directory(folder, ignored);
    fs::permissions(folder, fs::perms::owner_all, ignored);
}

fs::path record_path(const fs::path& folder, std::string_view id) {
    return folder / (std::string(id) + std::string(kExtension));
}

std::vector<fs::path> records_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == kExtension) found.push_back(it->path());
    return found;
}

}  // namespace cgpu::store
