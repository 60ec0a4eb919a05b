#include "client/node/files/read_all.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cgpu::client {
namespace {

tl::unexpected<ClientError> failed(const std::string& what) {
    return fail(ClientError::Kind::failed,
                what + ": it can't be read: " + std::generic_category().message(errno) +
                    ". Try: journalctl -u cgpud, and the disk.");
}

}  // namespace

Result<std::vector<std::byte>> read_all(int fd, const std::string& what) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return failed(what);
    std::vector<std::byte> content(static_cast<std::size_t>(status.st_size));
    std::size_t had = 0;
    while (had < content.size()) {
        const ssize_t got = ::pread(fd, content.data() + had, content.size() - had, static_cast<off_t>(had));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(what);
        if (got == 0) break;
        had += static_cast<std::size_t>(got);
    }
    content.resize(had);
    return content;
}

}  // namespace cgpu::client
