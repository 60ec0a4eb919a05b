#include "client/run/driver/front_image.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <span>

#include "core/elf/fit_exports.hpp"

namespace cgpu::client {
namespace {

bool read_at(const Descriptor& file, std::uint64_t offset, std::span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size()) {
        const ssize_t got =
            pread(file.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
}

Result<Image> read_image(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (file && fstat(file.get(), &info) == 0) {
        Image image(static_cast<std::size_t>(info.st_size));
        if (read_at(file, 0, image)) return image;
    }
    return fail(ClientError::Kind::failed, path + ": it can't be read. Try: install the cgpu module.");
}

}  // namespace

Result<FrontImage> fit_front(const std::string& front, const Descriptor& driver, const std::string& name) {
    auto ours = read_image(front);
    if (!ours) return tl::unexpected(ours.error());
    const auto present = elf::exported_symbols(
        [&driver](std::uint64_t offset, std::span<std::byte> to) { return read_at(driver, offset, to); });
    if (!present)
        return fail(ClientError::Kind::failed,
                    name + ": " + present.error() + ". Try: reinstall the NVIDIA driver.");
    auto fitted = elf::fit_exports(std::move(*ours), *present);
    if (!fitted)
        return fail(ClientError::Kind::failed,
                    front + ": " + fitted.error() + ". Try: install the newest release of cgpu.");
    return FrontImage{std::move(fitted->image), fitted->has_all};
}

}  // namespace cgpu::client
