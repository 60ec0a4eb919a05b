#include "client/run/fitted_front.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "core/elf/hide_exports.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;

using Image = std::vector<std::byte>;

Result<Image> read_image(const std::string& path, const std::string& remedy) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    Image image(error ? 0 : size);
    std::ifstream file(path, std::ios::binary);
    if (error ||
        !file.read(reinterpret_cast<char*>(image.data()), static_cast<std::streamsize>(image.size())))
        return fail(ClientError::Kind::failed, path + ": it can't be read. Try: " + remedy + ".");
    return image;
}

Result<void> write_image(const std::string& path, const Image& image) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    if (!file.flush())
        return fail(ClientError::Kind::failed, path + ": it can't be written. Try: free memory.");
    fs::permissions(path, fs::perms(0755), error);
    if (error) return fail(ClientError::Kind::failed, path + ": " + error.message() + ". Try: again.");
    return {};
}

}  // namespace

Result<void> write_fitted_front(const FittedFront& front) {
    const auto ours = read_image(front.front, "install the cgpu module");
    if (!ours) return tl::unexpected(ours.error());
    const auto theirs = read_image(front.driver, "reinstall the NVIDIA driver");
    if (!theirs) return tl::unexpected(theirs.error());
    const auto present = elf::exported_symbols(*theirs);
    if (!present)
        return fail(ClientError::Kind::failed,
                    front.driver + ": " + present.error() + ". Try: reinstall the NVIDIA driver.");
    const auto fitted = elf::hide_exports(*ours, *present);
    if (!fitted)
        return fail(ClientError::Kind::failed,
                    front.front + ": " + fitted.error() + ". Try: reinstall the cgpu module.");
    return write_image(front.made, *fitted);
}

}  // namespace cgpu::client
