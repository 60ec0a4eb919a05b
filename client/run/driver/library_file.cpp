#include "client/run/driver/library_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <elf.h>

#include "core/elf/library_identity.hpp"

namespace cgpu::client {

bool LibraryKind::is_named(std::string_view file) const {
    if (!file.starts_with(base)) return false;
    const std::string_view rest = file.substr(std::string_view(base).size());
    return rest.empty() ||
           (rest.front() == '.' && rest.find_first_not_of(".0123456789") == std::string_view::npos);
}

bool has_drivers_name(std::string_view file) {
    return std::ranges::any_of(kLibraryKinds,
                               [file](const LibraryKind& kind) { return kind.is_named(file); });
}

unsigned machine_of_driver(const Descriptor& file) {
    const auto library = elf::identify_library(reader_of(file));
    if (!library || std::ranges::none_of(kLibraryKinds, [&library](const LibraryKind& kind) {
            return library->soname == std::string(kind.base) + ".1";
        }))
        return 0;
    if (library->elf_class == ELFCLASS64 && library->machine == EM_X86_64) return k64Bit;
    return library->elf_class == ELFCLASS32 && library->machine == EM_386 ? k32Bit : 0;
}

elf::ReadAt reader_of(const Descriptor& file) {
    return [&file](std::uint64_t offset, std::span<std::byte> to) {
        // pread(2) takes no offset that is negative as a signed number.
        if (offset > INT64_MAX) return false;
        std::size_t done = 0;
        while (done < to.size()) {
            const ssize_t got =
                pread(file.fd(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
            if (got <= 0) return false;
            done += static_cast<std::size_t>(got);
        }
        return true;
    };
}

}  // namespace cgpu::client
