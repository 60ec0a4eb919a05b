#include "client/run/fitted_front.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/elf/hide_exports.hpp"

namespace cgpu::client {
namespace {

/// No driver's library comes near it; a file of an image could have any size.
constexpr off_t kMaxImage = off_t{1} << 29;

Result<Image> read_image(const Descriptor& file, const std::string& name, const std::string& remedy) {
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || info.st_size > kMaxImage)
        return fail(ClientError::Kind::failed, name + ": it can't be read. Try: " + remedy + ".");
    Image image(static_cast<std::size_t>(info.st_size));
    std::size_t done = 0;
    while (done < image.size()) {
        const ssize_t got =
            pread(file.get(), image.data() + done, image.size() - done, static_cast<off_t>(done));
        if (got <= 0)
            return fail(ClientError::Kind::failed, name + ": it can't be read. Try: " + remedy + ".");
        done += static_cast<std::size_t>(got);
    }
    return image;
}

}  // namespace

Result<Image> fit_front(const std::string& front, const Descriptor& driver, const std::string& name) {
    const Descriptor file(open(front.c_str(), O_RDONLY | O_CLOEXEC));
    auto ours = read_image(file, front, "install the cgpu module");
    if (!ours) return ours;
    auto theirs = read_image(driver, name, "reinstall the NVIDIA driver");
    if (!theirs) return theirs;
    const auto present = elf::exported_symbols(*theirs);
    if (!present)
        return fail(ClientError::Kind::failed,
                    name + ": " + present.error() + ". Try: reinstall the NVIDIA driver.");
    auto fitted = elf::hide_exports(*ours, *present);
    if (!fitted)
        return fail(ClientError::Kind::failed,
                    front + ": " + fitted.error() + ". Try: reinstall the cgpu module.");
    return std::move(*fitted);
}

}  // namespace cgpu::client
