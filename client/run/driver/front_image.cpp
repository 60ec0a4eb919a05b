#include "client/run/driver/front_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "client/run/driver/library_file.hpp"
#include "core/elf/fit_exports.hpp"
#include "files/read.hpp"

namespace cgpu::client {

Image Image::of(const Descriptor& file) {
    struct stat info {};
    Image image;
    if (!file || fstat(file.fd(), &info) != 0 || info.st_size == 0) return image;
    const auto size = static_cast<std::size_t>(info.st_size);
    void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.fd(), 0);
    if (at != MAP_FAILED) image.bytes_ = {static_cast<std::byte*>(at), size};
    return image;
}

Image::~Image() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

Result<Image> fit_front(const std::string& front, const Descriptor& driver, const std::string& name) {
    const auto file = files::open_regular(front);
    if (!file)
        return fail(ClientError::Kind::failed,
                    front + ": it can't be read" +
                        (file.error().is_missing() ? "" : ": " + file.error().why()) +
                        ". Try: install the cgpu module.");
    Image image = Image::of(*file);
    if (image.bytes().empty())
        return fail(ClientError::Kind::failed, front + ": it can't be read. Try: install the cgpu module.");
    const auto present = elf::exported_symbols(reader_of(driver));
    if (!present)
        return fail(ClientError::Kind::failed,
                    name + ": " + present.error() + ". Try: reinstall the NVIDIA driver.");
    if (const auto fitted = elf::fit_exports(image.bytes(), *present); !fitted)
        return fail(ClientError::Kind::failed,
                    front + ": " + fitted.error() + ". Try: install the newest release of cgpu.");
    return image;
}

}  // namespace cgpu::client
