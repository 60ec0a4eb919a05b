#include "module/front/base/copy_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // headers of old distributions don't have it
#endif

namespace cgpu::front {

bool wipe_in_copies(void* pages, std::size_t bytes) { return madvise(pages, bytes, MADV_WIPEONFORK) == 0; }

constinit const std::atomic<std::uint32_t> CopyMark::never_wiped{kOriginal};

void CopyMark::set() {
    if (page_ == nullptr) {
        const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return;
        if (!wipe_in_copies(page, bytes)) {
            munmap(page, bytes);
            return;
        }
        page_ = static_cast<std::atomic<std::uint32_t>*>(page);
    }
    page_->store(kOriginal);
    word_.store(page_);
}

}  // namespace cgpu::front
