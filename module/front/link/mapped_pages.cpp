#include "module/front/link/mapped_pages.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include "module/front/base/waiting.hpp"

namespace cgpu::front {
namespace {

void* map_page(int file, int protection, const void* over) {
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0 || status.st_size < static_cast<off_t>(wire::kPageBytes)) {
        return nullptr;
    }
    const int flags = MAP_SHARED | (over != nullptr ? MAP_FIXED : 0);
    void* page = mmap(const_cast<void*>(over), wire::kPageBytes, protection, flags, file, 0);
    return page == MAP_FAILED ? nullptr : page;
}

/// Checks a page's magic and the version of its layout, with which it begins, before it is mapped anywhere
/// else.
bool is_known(int file, std::uint32_t magic) {
    void* page = map_page(file, PROT_READ, nullptr);
    if (page == nullptr) return false;
    const auto* words = static_cast<const std::uint32_t*>(page);
    const bool known = words[0] == magic && words[1] == wire::kPageVersion;
    munmap(page, wire::kPageBytes);
    return known;
}

}  // namespace

/// Other threads read the addresses meanwhile, so they are written only once.
bool MappedPages::map(const std::array<int, 3>& files) {
    const bool observer = files[1] < 0 && files[2] < 0;
    if (!is_known(files[0], wire::kOrdersMagic)) return false;
    if (!observer &&
        (!is_known(files[1], wire::kReportsMagic) || !is_known(files[2], wire::kDoorbellMagic))) {
        return false;
    }
    void* orders = map_page(files[0], PROT_READ, orders_);
    if (orders == nullptr) return false;
    if (orders_ == nullptr) orders_ = static_cast<const wire::Orders*>(orders);
    if (observer) return true;
    void* reports = map_page(files[1], PROT_READ | PROT_WRITE, reports_);
    if (reports == nullptr) return false;
    if (reports_ == nullptr) reports_ = static_cast<wire::Reports*>(reports);
    void* doorbell = map_page(files[2], PROT_READ | PROT_WRITE, doorbell_);
    if (doorbell == nullptr) return false;
    if (doorbell_ == nullptr) doorbell_ = static_cast<wire::Doorbell*>(doorbell);
    return orders_->gpu_count <= wire::kMaxGpus;
}

void MappedPages::ring() const {
    if (doorbell_ == nullptr) return;
    doorbell_->rings.fetch_add(1);
    futex_wake_all(&doorbell_->rings);
}

}  // namespace cgpu::front
