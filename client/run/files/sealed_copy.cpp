#include "client/run/files/sealed_copy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>

#include "client/run/files/root.hpp"

namespace cgpu::client {
namespace {

/// MFD_NOEXEC_SEAL, which older headers lack: an administrator may have required it (vm.memfd_noexec). The
/// loader maps such a file all the same.
constexpr unsigned kNotExecuted = 8;
constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 30;

}  // namespace

Descriptor sealed_copy(const Descriptor& file, const char* name) {
    Descriptor copy(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNotExecuted));
    if (!copy) copy = Descriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!copy) return Descriptor();
    off_t from = 0;
    ssize_t copied = 0;
    do copied = sendfile(copy.fd(), file.fd(), &from, kCopiedAtOnce);
    while (copied > 0 || (copied < 0 && errno == EINTR));
    if (copied < 0 ||
        fcntl(copy.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        return Descriptor();
    return Descriptor(open(by_descriptor(copy).c_str(), O_RDONLY | O_CLOEXEC));
}

bool has_users_of_its_own() {
    std::ifstream map("/proc/self/uid_map");
    std::uint64_t first = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    constexpr std::uint64_t all = 0xffffffff;
    return (map >> first >> outside >> count) && (first != 0 || outside != 0 || count != all);
}

}  // namespace cgpu::client
