#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cgpu::front {

/// Whole pages of private memory read as zeros in every copy of the process from here on.
/// @return false: the kernel knows no such pages (before Linux 4.14).
bool wipe_in_copies(void* pages, std::size_t bytes);

/// Tells a process from a copy that was made of it past libc's fork (a bare clone): in that one no handler of
/// fork has run, locks are as they were, the connection is the first process's, and there is no service
/// thread. The word lies in a page that the kernel wipes in copies (MADV_WIPEONFORK). Where it knows no such
/// pages, nothing is taken for a copy.
class CopyMark {
  public:
    constexpr CopyMark() = default;

    /// This process is none from here on.
    void set();
    [[nodiscard]] bool is_copy() const {
        return word_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) == 0;
    }

  private:
    static constexpr std::uint32_t kOriginal = 1;
    static constinit const std::atomic<std::uint32_t> never_wiped;

    std::atomic<std::uint32_t>* page_ = nullptr;
    std::atomic<const std::atomic<std::uint32_t>*> word_{&never_wiped};
};

}  // namespace cgpu::front
