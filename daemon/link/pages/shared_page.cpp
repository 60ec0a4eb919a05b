#include "daemon/link/pages/shared_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

// Since Linux 5.1; older kernel headers don't define it.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace cgpu::link {

app::Result<SharedPage> SharedPage::make(const char* name, Writer writer,
                                         std::span<const std::uint32_t> head) {
    const auto failed = [&](int fd) {
        const auto why = std::generic_category().message(errno);
        if (fd >= 0) close(fd);
        return model::refuse(model::Refusal::Reason::storage, std::string("shared page ") + name, why,
                             "set a larger LimitNOFILE= for cgpud, or free some memory");
    };
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, wire::kPageBytes) != 0) return failed(fd);
    // Mapped before it is sealed: after F_SEAL_FUTURE_WRITE this mapping is the only one that can write.
    void* mapped = mmap(nullptr, wire::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return failed(fd);
    std::memcpy(mapped, head.data(), head.size_bytes());
    const int seals =
        F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL | (writer == Writer::daemon ? F_SEAL_FUTURE_WRITE : 0);
    const bool read_only = writer == Writer::daemon || mprotect(mapped, wire::kPageBytes, PROT_READ) == 0;
    if (!read_only || fcntl(fd, F_ADD_SEALS, seals) != 0) {
        const auto refusal = failed(fd);
        munmap(mapped, wire::kPageBytes);
        return refusal;
    }
    return SharedPage(fd, mapped);
}

SharedPage::SharedPage(SharedPage&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), mapped_(std::exchange(other.mapped_, nullptr)) {}

SharedPage::~SharedPage() {
    if (mapped_ != nullptr) munmap(mapped_, wire::kPageBytes);
    if (fd_ >= 0) close(fd_);
}

}  // namespace cgpu::link
